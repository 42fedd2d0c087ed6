/**
 * @file The `train` command: runs the training job, shows its progress and turns signals into a clean stop.
 *
 * The first SIGINT, SIGTERM or SIGHUP, or a reader of standard output that went away, asks the job to save and stop,
 * which is a success. The second signal ends the process at once with the shell's code for it (130, 143 or 129). Output
 * that cannot be written asks for the same, and is an error once the work is saved. SIGUSR2 shows what every thread is
 * doing.
 */
import type { MonolithError } from '../base/errors.js';
import type { CliIo, StopSignal } from './io.js';
import { ProgressReporter, progressMode } from './progress.js';
import { EXIT_DONE } from './report.js';
import type { TrainJob } from './train-job.js';
import { type TrainFlags, toJobOptions } from './train-options.js';

export const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const satisfies Record<StopSignal, number>;

export type LoadTrainJob = () => Promise<TrainJob>;

/** Loads the job when it is needed: help and checks of flags come without the training code. */
export const loadTrainJob: LoadTrainJob = async () => (await import('./run-train-job.js')).runTrainJob;

/** Trains and returns the exit code. */
export async function runTrainCommand(
  flags: TrainFlags,
  io: CliIo,
  load: LoadTrainJob = loadTrainJob,
): Promise<number> {
  const abort = new AbortController();
  const reporter = new ProgressReporter(io, progressMode(io, flags));
  const stopSignals = io.onSignal((signal) => {
    if (abort.signal.aborted) {
      reporter.close();
      io.exit(SIGNAL_EXIT[signal]);
      return;
    }
    reporter.note(`${flags.modelDir === null ? 'stopping' : 'saving and stopping'}, Ctrl-C again to stop at once`);
    abort.abort(signal);
  });
  const stopDumps = io.onDumpSignal((signal) => {
    // Loaded when it is asked for: help and checks of flags come without the training code.
    void import('../train/signal-utils.js').then(async ({ describeProcess }) => {
      reporter.note((await describeProcess(signal)).trimEnd());
    });
  });
  let lost: MonolithError | undefined;
  const stopOutput = io.onBrokenOutput((error) => {
    lost ??= error;
    abort.abort('output');
  });
  try {
    const job = await load();
    const result = await job(toJobOptions(flags, reporter.eventIntervalMs, abort.signal), (event) =>
      reporter.event(event),
    );
    reporter.done(result);
    if (lost !== undefined) throw lost;
    return EXIT_DONE;
  } finally {
    reporter.close();
    stopOutput();
    stopSignals();
    stopDumps();
  }
}
