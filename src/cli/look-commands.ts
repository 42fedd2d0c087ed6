/** @file The commands that look at what a run left: its report, its trace. */
import type { Command } from 'commander';
import { MonolithError } from '../base/errors.js';
import { addFlags, parseFlags } from './command-flags.js';
import { REPORT_HELP, TRACE_HELP } from './help-texts.js';
import type { CliIo } from './io.js';

const reportFlags = async () => (await import('./look-options.js')).reportFlags;
const traceFlags = async () => (await import('./look-options.js')).traceFlags;

export function addLookCommands(program: Command, io: CliIo, setExit: (code: number) => void): void {
  addFlags(program.command('report').description('Make the report of a run again, from its events.'), reportFlags)
    .argument('<run>', 'folder of a run, its events.jsonl, or another report')
    .addHelpText('after', REPORT_HELP)
    .action(async (run: string, raw: unknown) => {
      const flags = await parseFlags(reportFlags, raw, 'report');
      const { runReportCommand } = await import('./report-command.js');
      setExit(runReportCommand(run, flags, io));
    });

  addFlags(program.command('trace').description('Sum up the trace of a run.'), traceFlags)
    .argument('<file>', 'file written by monolith train --trace')
    .addHelpText('after', TRACE_HELP)
    .action(async (file: string, raw: unknown) => {
      const { json, top, html, out } = await parseFlags(traceFlags, raw, 'trace');
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
