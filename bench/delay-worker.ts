/** @file Thread that waits for others: it sleeps until each moment it is given, in order, and says so. */
import { workerData } from 'node:worker_threads';
import { ASKED, type DelayWorkerData, DONE, PLACES, sharedNowMs } from './delays.js';

const { words, ends } = workerData as DelayWorkerData;
const never = new Int32Array(new SharedArrayBuffer(4));

for (let done = 0; ; done++) {
  while (Atomics.load(words, ASKED) === done) Atomics.wait(words, ASKED, done);
  for (;;) {
    const leftMs = ends[done % PLACES]! - sharedNowMs();
    if (leftMs <= 0) break;
    Atomics.wait(never, 0, 0, leftMs);
  }
  Atomics.store(words, DONE, done + 1);
  Atomics.notify(words, DONE);
}
