/** @file Checkpoints of a model directory as they come: what evaluates beside a training walks over. */
import type { Clock } from '../../base/clock.js';
import { stepOfPrefix } from '../../checkpoint/names.js';
import { latestCheckpoint } from '../../checkpoint/on-demand.js';

export interface CheckpointsOptions {
  readonly clock: Clock;
  /** How long to wait for the next one. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const POLL_MS = 1000;

/** The step of the newest checkpoint; 0 before the first. */
export async function currentStep(modelDir: string): Promise<number> {
  const newest = await latestCheckpoint(modelDir);
  return newest === null ? 0 : stepOfPrefix(newest);
}

/** The newest checkpoint, then each that is newer; the end when none came in time. */
export async function* checkpointsIterator(
  modelDir: string,
  { clock, timeoutMs, signal }: CheckpointsOptions,
): AsyncGenerator<string, void, undefined> {
  let last: string | null = null;
  let end = clock.now() + timeoutMs;
  while (!signal?.aborted) {
    const newest = await latestCheckpoint(modelDir);
    if (newest !== null && newest !== last) {
      last = newest;
      yield newest;
      end = clock.now() + timeoutMs;
    } else if (clock.now() >= end) return;
    else await clock.sleep(POLL_MS, signal);
  }
}
