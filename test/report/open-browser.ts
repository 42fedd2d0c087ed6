/** @file A browser that a test looks at pages with: Debian's chromium, driven by playwright-core. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The program of a browser; undefined where there is none. */
export function browserPath(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((file) => existsSync(file));
}

export const openBrowser = (executablePath: string): Promise<Browser> =>
  // The sandbox needs a user other than root; pages are our own files.
  chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });

export interface Look {
  readonly dark?: boolean;
  readonly width?: number;
  readonly javaScript?: boolean;
}

/** Opens a file; what the page complained of, and what it asked the network for, are lists that fill. */
export async function openPage(
  browser: Browser,
  file: string,
  { dark = false, width = 1200, javaScript = true }: Look = {},
) {
  const page = await browser.newPage({
    colorScheme: dark ? 'dark' : 'light',
    viewport: { width, height: 900 },
    javaScriptEnabled: javaScript,
  });
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  const url = pathToFileURL(file).href;
  page.on('request', (request) => request.url() !== url && requests.push(request.url()));
  await page.goto(url);
  return { page, complaints, requests };
}
