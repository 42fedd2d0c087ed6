/** @file `monolith trace FILE --html`: the timeline as a page, which any browser opens without network. */
import { basename } from 'node:path';
import { timelinePage } from '../report/timeline-page.js';
import { writeWhole } from '../report/write-report.js';
import { readChromeTrace } from '../trace/read-chrome-trace.js';
import type { CliIo } from './io.js';
import { jsonLine } from './json-line.js';
import { EXIT_DONE } from './report.js';

export interface TraceHtmlOptions {
  readonly json: boolean;
  readonly out: string | null;
}

/** Writes the page; its name is that of the trace where nobody gave one. */
export async function runTraceHtml(file: string, { json, out }: TraceHtmlOptions, io: CliIo): Promise<number> {
  const page = out ?? `${file.replace(/\.json$/, '')}.html`;
  writeWhole(page, timelinePage(await readChromeTrace(file), basename(file)));
  io.out.write(json ? jsonLine({ event: 'timeline', trace: file, file: page }) : `timeline  ${page}\n`);
  return EXIT_DONE;
}
