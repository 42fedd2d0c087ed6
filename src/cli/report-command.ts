/** @file `monolith report RUN`: makes the page of a run again, of one that was killed too. */
import { writeReport } from '../report/write-report.js';
import type { CliIo } from './io.js';
import { jsonLine } from './json-line.js';
import { EXIT_DONE } from './report.js';

export interface ReportFlags {
  readonly out: string | null;
  readonly json: boolean;
}

export function runReportCommand(run: string, { out, json }: ReportFlags, io: CliIo): number {
  const file = writeReport(run, out ?? undefined);
  io.out.write(json ? jsonLine({ event: 'report', run, file }) : `report  ${file}\n`);
  return EXIT_DONE;
}
