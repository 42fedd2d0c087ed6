/** @file Writes the report of a run beside its events. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MonolithError, messageOf } from '../base/errors.js';
import { temporaryName } from '../base/files/temporary-names.js';
import { readEvents } from './event-lines.js';
import { REPORT_FILE, reportPage } from './report-page.js';

/** Makes the report of a run's folder, or of a file of events; returns its name. */
export function writeReport(run: string, file = reportFileOf(run)): string {
  const page = reportPage(readEvents(run));
  writeWhole(file, page);
  return file;
}

const reportFileOf = (run: string): string => join(/\.(jsonl|html)$/.test(run) ? dirname(run) : run, REPORT_FILE);

/** Whoever has the page open finds the old one or the new one. */
export function writeWhole(file: string, text: string): void {
  const temporary = temporaryName(file);
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, file);
  } catch (cause) {
    rmSync(temporary, { force: true });
    const hint = 'name another file with --out, or free some disk space';
    throw new MonolithError('ML_OUTPUT', { reason: `${file}: ${messageOf(cause)}` }, { hint, cause });
  }
}
