/**
 * @file Threads of a test that do jobs all at once, one job each. They are kept for the next jobs, since starting one
 * takes longer than most jobs, and end with the test file.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t from 'tap';

/** What lets threads begin together: they count themselves in `gate` and wait until all `threads` have. */
export interface Together {
  readonly gate: Int32Array;
  readonly threads: number;
}

/** Runs jobs on threads of the module `entry`, which answers each message with a result and ends at `end`. */
export function workerCrew<Job extends object, Result>(entry: URL): (jobs: readonly Job[]) => Promise<Result[]> {
  const workers: Worker[] = [];
  t.teardown(async () => {
    const exits = workers.map((worker) => once(worker, 'exit'));
    for (const worker of workers) worker.postMessage('end');
    await Promise.all(exits);
  });
  return (jobs) => {
    const together: Together = { gate: new Int32Array(new SharedArrayBuffer(4)), threads: jobs.length };
    return Promise.all(
      jobs.map(async (job, i) => {
        workers[i] ??= new Worker(entry, { execArgv: [] });
        const answer = once(workers[i], 'message');
        workers[i].postMessage({ ...job, ...together });
        return ((await answer) as [Result])[0];
      }),
    );
  };
}
