/** @file The commands that look at what a run left: its report, its trace. */
import type { Command } from 'commander';
import { z } from 'zod';
import { MonolithError } from '../base/errors.js';
import { addFlags, flagMeta, outputFlags, parseFlags, pathName, switchFlag, wholeNumber } from './flags.js';
import { REPORT_HELP, TRACE_HELP } from './help-texts.js';
import type { CliIo } from './io.js';

const reportFlags = z.object({
  out: pathName()
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'file', help: 'where it goes', defaultText: 'in the folder' }),
  ...outputFlags,
});
const traceFlags = z.object({
  html: switchFlag().register(flagMeta, { help: 'write a page with the timeline and the summary' }),
  out: pathName()
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'file', help: 'where the page goes', defaultText: 'beside the trace' }),
  top: wholeNumber(1, 1000).optional().register(flagMeta, { value: 'count', help: 'rows to show per table' }),
  ...outputFlags,
});

export function addLookCommands(program: Command, io: CliIo, setExit: (code: number) => void): void {
  addFlags(program.command('report').description('Make the report of a run again, from its events.'), reportFlags)
    .argument('<run>', 'folder of a run, its events.jsonl, or another report')
    .addHelpText('after', REPORT_HELP)
    .action(async (run: string, raw: unknown) => {
      const flags = parseFlags(reportFlags, raw, 'report');
      const { runReportCommand } = await import('./report-command.js');
      setExit(runReportCommand(run, flags, io));
    });

  addFlags(program.command('trace').description('Sum up the trace of a run.'), traceFlags)
    .argument('<file>', 'file written by monolith train --trace')
    .addHelpText('after', TRACE_HELP)
    .action(async (file: string, raw: unknown) => {
      const { json, top, html, out } = parseFlags(traceFlags, raw, 'trace');
      if (html) {
        const { runTraceHtml } = await import('./trace-html.js');
        setExit(await runTraceHtml(file, { json, out }, io));
        return;
      }
      if (out !== null) {
        throw new MonolithError('ML_FLAG', { flag: '--out', reason: 'is where a page goes' }, { hint: 'add --html' });
      }
      const { runTraceCommand } = await import('./trace-command.js');
      const options = top === undefined ? { json } : { json, top };
      await runTraceCommand(file, options, (line) => io.out.write(`${line}\n`));
    });
}
