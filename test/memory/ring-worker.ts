/**
 * @file Thread of the ring's stress test: for each task it pushes numbered items, or pops what it gets, until done or
 * told.
 */
import { parentPort } from 'node:worker_threads';
import { MersenneTwister } from '../../src/base/random.js';
import { SharedRing } from '../../src/memory/shared-ring.js';

export interface RingTask {
  readonly buffer: SharedArrayBuffer;
  readonly role: 'push' | 'pop';
  /** Number of the pushing thread, and the seed of its choices. */
  readonly id: number;
  readonly count: number;
  /** Limit of each wait. */
  readonly limitMs?: number;
}

export interface RingReport {
  readonly id: number;
  /** Of a pusher: how many items went in. */
  readonly pushed: number;
  /** Of a popper: pusher and number of each item, in order. */
  readonly popped: Int32Array;
  /** Code of the error that ended it, or null. */
  readonly ended: string | null;
}

function run(task: RingTask): RingReport {
  const ring = SharedRing.attach(task.buffer, 0);
  const random = new MersenneTwister(task.id);
  const popped: number[] = [];
  const words = new Int32Array(3);
  const limitMs = task.limitMs ?? 20_000;
  let pushed = 0;
  let ended: string | null = null;
  try {
    while (task.role === 'pop' || pushed < task.count) {
      // Bursts of random length by trying, then one by waiting, so that both paths meet each other.
      for (let burst = random.nextBounded(7); burst >= 0; burst--) {
        if (task.role === 'push') {
          if (pushed === task.count) break;
          words.set([task.id, pushed, task.id ^ (pushed * 31)]);
          if (burst === 0) ring.push(words, limitMs);
          else if (!ring.tryPush(words)) continue;
          pushed++;
        } else {
          if (burst === 0) ring.pop(words, limitMs);
          else if (!ring.tryPop(words)) continue;
          if (words[2] !== (words[0]! ^ (words[1]! * 31))) throw new Error(`torn item ${words}`);
          popped.push(words[0]!, words[1]!);
        }
      }
    }
  } catch (error) {
    ended = (error as { code?: string }).code ?? String(error);
  }
  return { id: task.id, pushed, popped: Int32Array.from(popped), ended };
}

parentPort!.on('message', (task: RingTask) => parentPort!.postMessage(run(task)));
