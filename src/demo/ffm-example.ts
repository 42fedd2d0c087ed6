/**
 * @file Examples of the built-in factorization-machine demo (`generate_ffm_example`), as structures.
 *
 * The reference serializes each example and parses it back in the input pipeline; here nothing is gained by that, so
 * an example stays a label and id lists. The draws and their order are the reference's.
 */
import assert from 'node:assert/strict';
import type { MersenneTwister } from '../base/random.js';
import type { FeedSpec } from '../memory/batch.js';

export const FFM_SLOT_COUNT = 6;
/** Slots with a bias, from the first one on. */
export const FFM_BIAS_SLOT_COUNT = 4;
/** Which slots meet: (user slot, item slot). */
export const FFM_PAIRS = [
  [0, 3],
  [0, 4],
  [1, 5],
  [2, 3],
  [2, 5],
] as const;
/** Most ids one slot of one example can have, when the caller does not say otherwise. */
export const FFM_LENGTH_MAX = 5;

export interface FfmExample {
  readonly label: number;
  /** One list of ids per slot, never empty; an id may repeat. */
  readonly ids: readonly (readonly bigint[])[];
}

/** Name of the feature of slot `index`. */
export function slotToKey(index: number): string {
  return `feature_${index}`;
}

/** The feeds of a demo batch, in feed order: the label, then one ragged feed per slot. */
export function ffmSchema(slotCount = FFM_SLOT_COUNT): readonly FeedSpec[] {
  const slots = Array.from({ length: slotCount }, (_, i): FeedSpec => ({ name: slotToKey(i), kind: 'ragged' }));
  return [{ name: 'label', kind: 'dense', width: 1 }, ...slots];
}

/**
 * The next example of the stream: per slot i, 1 to `length` ids of `[max * i, max * i + vocabSizes[i])`, where max is
 * the largest vocabulary.
 *
 * The label is drawn from the one value 0, as in the reference, and so takes no word of the stream.
 */
export function generateFfmExample(
  random: MersenneTwister,
  vocabSizes: readonly number[],
  length = FFM_LENGTH_MAX,
): FfmExample {
  const vocabMax = Math.max(...vocabSizes);
  const label = random.nextBounded(0);
  const ids = vocabSizes.map((vocab, slot) => {
    assert(vocab >= 1 && vocab <= 0x100000000, 'a vocabulary has 1 to 2^32 ids');
    // A number holds it exactly: bigints are made once for each id, which is what examples cost most.
    const first = vocabMax * slot;
    const list = new Array<bigint>(random.nextBounded(length - 1) + 1);
    for (let i = 0; i < list.length; i++) list[i] = BigInt(first + random.nextBounded(vocab - 1));
    return list;
  });
  return { label, ids };
}
