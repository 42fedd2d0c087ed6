/**
 * @file `monolith train` on a table of data or a model of one's own: reads, holds out, trains, reports. The first
 * Ctrl-C saves and stops, as in any training.
 */
import { join } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { packageVersion } from '../../base/package-version.js';
import type { RunEvent } from '../../recipe/run-event.js';
import { REPORT_FILE } from '../../report/report-page.js';
import { RunFolder, recordOf } from '../../report/run-folder.js';
import { writeReport } from '../../report/write-report.js';
import { TrainAsks } from '../../train/hooks/train-asks.js';
import { printSettings } from '../dry-run.js';
import type { CliIo } from '../io.js';
import { ProgressReporter, progressMode } from '../progress.js';
import { coded, EXIT_DONE } from '../report.js';
import { withStops } from '../stop-signals.js';
import { AskedTrace } from './asked-trace.js';
import type { LearnFlags } from './learn-options.js';
import { LearnText } from './learn-text.js';
import { listenForRun } from './run-keys.js';
import { RunLog } from './run-log.js';
import { runFolderOf } from './run-name.js';
import type { RunEnd, RunParts } from './run-parts.js';

type Settings = Parameters<typeof printSettings>[0];

export async function runLearnCommand(flags: LearnFlags, settings: Settings, io: CliIo): Promise<number> {
  if (flags.eject !== null) return (await import('./eject-command.js')).runEject(flags, io);
  if (flags.smoke) return (await import('./smoke.js')).runSmoke(flags, io);
  const text = new LearnText();
  const mode = progressMode(io, flags);
  const reporter = new ProgressReporter(io, mode, { textOf: (event) => text.of(event as RunEvent) });
  if (flags.dryRun) {
    if (!flags.json) printSettings(settings, io, false);
    if (flags.own === null) {
      const { readForRun } = await import('./table-run.js');
      await readForRun(flags, (event) => reporter.event(event));
    } else {
      const { ownRows } = await import('./own-data.js');
      await ownRows(flags.own, flags, (event) => reporter.event(event));
    }
    if (flags.json) printSettings(settings, io, true);
    return EXIT_DONE;
  }
  const dir = runFolderOf(flags);
  const info = { command: ['monolith', ...process.argv.slice(2)], settings, version: packageVersion() };
  return withStops({ io, reporter, saves: true }, async (signal, stop) => {
    const record = recordOf({ ...info, module: flags.file });
    const onTrouble = ({ code, message, hint }: MonolithError): void =>
      run.tell({ event: 'warning', code, message: `${message}; ${hint}` });
    const run: RunLog = new RunLog(reporter, () => new RunFolder(dir, record, onTrouble));
    const [asks, askedTrace] = [new TrainAsks(), new AskedTrace(dir, (event) => run.tell(event))];
    const deaf = listenForRun({ io, mode, reporter, run, asks, trace: askedTrace, stop });
    try {
      run.tell({ event: 'run', ...record });
      const end = await runOf({ flags: { ...flags, modelDir: dir }, run, signal, asks, askedTrace });
      const done = { ...end.done, modelDir: dir, report: flags.report ? join(dir, REPORT_FILE) : null };
      run.keep(done);
      reportRun(run, flags, reporter);
      reporter.end(done, text.done(done));
      return EXIT_DONE;
    } catch (thrown) {
      if (signal.aborted && thrown instanceof MonolithError && thrown.code === 'ML_CANCELLED') {
        run.tell({ event: 'note', message: 'stopped before the first step' });
        return EXIT_DONE;
      }
      const { code, message, hint = null } = coded(thrown);
      run.keep({ event: 'error', code, message, hint });
      reportRun(run, flags, reporter);
      throw thrown;
    } finally {
      deaf();
      run.close();
    }
  });
}

/** Makes the report of a run that left something. That it cannot be written is no reason for a run to fail. */
function reportRun(run: RunLog, { report }: LearnFlags, reporter: ProgressReporter): void {
  if (!report || run.folder === undefined) return;
  run.folder.flush();
  try {
    writeReport(run.folder.dir);
  } catch (thrown) {
    reporter.event({ event: 'warning', code: coded(thrown).code, message: `no report: ${coded(thrown).message}` });
  }
}

async function runOf(parts: RunParts): Promise<RunEnd> {
  const { own } = parts.flags;
  if (own !== null) return (await import('./own-run.js')).runOwn(own, parts);
  const { runTable } = await import('./table-run.js');
  return runTable(parts);
}
