/**
 * @file A program that saves a checkpoint while its file operations are counted, cut off or refused:
 * `saves.js DIR SCENARIO MODE AT`. Modes `once` and `full` refuse every AT-th operation in turn and check what is left.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { MonolithError } from '../../src/base/errors.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import type { Snapshot } from '../../src/checkpoint/snapshot.js';
import { contentOf, quick, sampleSnapshot, temporaries } from '../checkpoint/helpers.js';
import { arm, operations, type Plan } from './file-operations.js';

/** What is saved over step 1: the next step, which rotates step 1 out, or the same step with other values. */
export const SCENARIOS: Readonly<Record<string, Snapshot>> = {
  'the next step': sampleSnapshot(2, 5),
  'the same step again': sampleSnapshot(1, 5),
};
export const FIRST = sampleSnapshot(1);

export async function saveFirst(dir: string): Promise<void> {
  await saveCheckpoint(dir, FIRST, quick());
}

export async function saveSecond(dir: string, scenario: string): Promise<readonly string[]> {
  return (await saveCheckpoint(dir, SCENARIOS[scenario]!, { keep: 1 })).warnings;
}

/** Which of the two saves `dir` holds; anything but a whole one throws. */
export async function found(dir: string, scenario: string): Promise<'first' | 'second'> {
  const latest = await latestCheckpoint(dir);
  if (latest === null) throw new Error('the checkpoint is gone');
  const content = contentOf(await loadCheckpoint(latest));
  if (isDeepStrictEqual(content, contentOf(FIRST))) return 'first';
  if (isDeepStrictEqual(content, contentOf(SCENARIOS[scenario]!))) return 'second';
  throw new Error('the checkpoint is a mixture');
}

export interface DiskReport {
  readonly attempts: number;
  /** Saves that failed with ML_CKPT_WRITE and left the one before. */
  readonly refused: number;
  /** Saves that came through. */
  readonly saved: number;
  readonly failures: readonly string[];
}

async function refuseEach(home: string, scenario: string, mode: 'once' | 'full', stride: number): Promise<DiskReport> {
  const failures: string[] = [];
  let [attempts, refused, saved] = [0, 0, 0];
  for (let at = 0; ; at += stride) {
    const dir = join(home, 'disk');
    rmSync(dir, { recursive: true, force: true });
    arm({ at: -1, mode: 'count' });
    await saveFirst(dir);
    arm({ at, mode });
    const error = await saveSecond(dir, scenario).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    const reached = operations() > at;
    arm({ at: -1, mode: 'count' });
    attempts++;
    if (error === null) saved++;
    else refused++;
    try {
      const isCoded = error instanceof MonolithError && (error.code === 'ML_CKPT_WRITE' || error.code === 'ML_DIR');
      if (error !== null && !isCoded) throw error;
      const which = await found(dir, scenario);
      if ((error === null) !== (which === 'second')) throw new Error(`${error ?? 'no error'}, but found the ${which}`);
      await saveCheckpoint(dir, SCENARIOS[scenario]!, { keep: 1, ...quick() });
      if ((await found(dir, scenario)) !== 'second') throw new Error('the next save does not count');
      const left = temporaries(dir).filter((name) => !name.startsWith('monolith.lock'));
      if (left.length > 0) throw new Error(`left are ${left}`);
    } catch (failure) {
      failures.push(`${scenario}, ${mode} at ${at}: ${failure instanceof Error ? failure.stack : failure}`);
    }
    if (!reached) break;
  }
  return { attempts, refused, saved, failures };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dir, scenario, mode, at] = process.argv.slice(2) as [string, string, string, string];
  if (mode === 'once' || mode === 'full')
    console.log(JSON.stringify(await refuseEach(dir, scenario, mode, Number(at))));
  else {
    arm({ at: Number(at), mode: mode as Plan['mode'] });
    await saveSecond(dir, scenario);
    console.log(operations());
  }
  process.exit(0);
}
