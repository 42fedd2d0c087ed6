/** @file The other thread of trace-threads.test: answers each turn with an instant in its own ring. */
import { workerData } from 'node:worker_threads';
import { Views } from '../../src/memory/views.js';
import { TraceRing } from '../../src/trace/trace-ring.js';

export interface ClockWorkerData {
  readonly buffer: SharedArrayBuffer;
  readonly ringPtr: number;
  /** Int32 word that says whose turn it is: even main, odd worker. */
  readonly turnPtr: number;
  readonly rounds: number;
  /** Moves the zero of performance.now() of this thread, as runtimes that count from the start of a worker do. */
  readonly shiftMs: number;
}

const { buffer, ringPtr, turnPtr, rounds, shiftMs } = workerData as ClockWorkerData;
const now = performance.now.bind(performance);
performance.now = () => now() + shiftMs;

const views = new Views(buffer);
const ring = TraceRing.attach(views, ringPtr);
ring.bindClock();
for (let round = 0; round < rounds; round++) {
  const mine = round * 2 + 1;
  let turn = Atomics.load(views.i32, turnPtr / 4);
  while (turn !== mine) {
    if (Atomics.wait(views.i32, turnPtr / 4, turn, 10_000) === 'timed-out')
      throw new Error('main did not take its turn');
    turn = Atomics.load(views.i32, turnPtr / 4);
  }
  ring.instant(1, round, ring.now());
  Atomics.store(views.i32, turnPtr / 4, mine + 1);
  Atomics.notify(views.i32, turnPtr / 4);
}
