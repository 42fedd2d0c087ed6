/**
 * @file `monolith` with a job that pretends, for tests that need a real process. First argument: `counting`, or `deaf`
 * for a job that does not stop when asked to, or `chatty` for one that prints an event per step.
 */
import { processIo } from '../../src/cli/io.js';
import { runProgram } from '../../src/cli/program.js';
import type { TrainJob } from '../../src/cli/train-job.js';
import { countingJob, resultOf, startEvent } from './fake-job.js';

const deafJob: TrainJob = async (options, onEvent) => {
  onEvent(startEvent(options));
  await new Promise((resolve) => setTimeout(resolve, 60_000));
  return resultOf(options, options.steps, false);
};

const chattyJob: TrainJob = async (options, onEvent) => {
  let step = 0;
  while (!options.signal.aborted) {
    step++;
    onEvent({ event: 'eval', step, auc: 0.5, loss: 0.5, examples: 10 });
    await new Promise((resolve) => setImmediate(resolve));
  }
  // Standard output is gone by now; the test reads this.
  process.stderr.write(`aborted by ${String(options.signal.reason)}\n`);
  return resultOf(options, step, true);
};

const jobs: Readonly<Record<string, TrainJob>> = { counting: countingJob, deaf: deafJob, chatty: chattyJob };
const [name, ...args] = process.argv.slice(2);
process.exitCode = await runProgram(args, processIo(), { loadTrainJob: async () => jobs[name ?? ''] ?? countingJob });
