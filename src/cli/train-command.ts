/** @file The `train` command of the built-in demo: runs the training job and shows its progress. */
import type { CliIo } from './io.js';
import { ProgressReporter, progressMode } from './progress.js';
import { EXIT_DONE } from './report.js';
import { withStops } from './stop-signals.js';
import type { TrainJob } from './train-job.js';
import { type TrainFlags, toJobOptions } from './train-options.js';

export type LoadTrainJob = () => Promise<TrainJob>;

/** Loads the job when it is needed: help and checks of flags come without the training code. */
export const loadTrainJob: LoadTrainJob = async () => (await import('./run-train-job.js')).runTrainJob;

/** Trains and returns the exit code. */
export async function runTrainCommand(
  flags: TrainFlags,
  io: CliIo,
  load: LoadTrainJob = loadTrainJob,
): Promise<number> {
  const reporter = new ProgressReporter(io, progressMode(io, flags));
  return withStops({ io, reporter, saves: flags.modelDir !== null }, async (signal) => {
    const job = await load();
    const result = await job(toJobOptions(flags, reporter.eventIntervalMs, signal), (event) => reporter.event(event));
    reporter.done(result);
    return EXIT_DONE;
  });
}
