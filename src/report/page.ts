/** @file A page that is one file: styles and scripts inside, nothing is fetched, and only its own scripts run. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { MonolithError, messageOf } from '../base/errors.js';
import { Html, html } from './html.js';

/** What `browser/` was built into. */
const ASSETS = new URL('../../pages/', import.meta.url);

export type Asset = 'base.css' | 'report.css' | 'timeline.css' | 'report.js' | 'timeline.js' | 'uPlot.js' | 'uPlot.css';

export interface PageParts {
  readonly title: string;
  readonly styles: readonly Asset[];
  readonly scripts: readonly Asset[];
  readonly body: Html;
}

function assetText(name: Asset): string {
  try {
    return readFileSync(new URL(name, ASSETS), 'utf8');
  } catch (cause) {
    const hint = 'install monolith-ts again; in a checkout, npm run build makes it';
    throw new MonolithError('ML_FILE_READ', { file: name, reason: messageOf(cause) }, { hint, cause });
  }
}

const digestOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The whole page. Its policy lets the scripts run that it was made with and no others, whatever the data has in it. */
export function pageText({ title, styles, scripts, body }: PageParts): string {
  const codes = scripts.map(assetText);
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src ${codes.map(digestOf).join(' ')}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="monolith-ts">
<title>${title}</title>
<style>${new Html(styles.map(assetText).join(''))}</style>
</head>
<body>
${body}
${codes.map((code) => new Html(`<script>${code}</script>\n`))}</body>
</html>
`.text;
}
