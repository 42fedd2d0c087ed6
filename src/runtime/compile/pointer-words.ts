/** @file Where a batch header points to the values of each feed. */
import { BATCH, type BatchSchema } from '../../memory/batch.js';

/** Where each feed of the schema has its pointers in a batch header. */
export function pointerWords(schema: BatchSchema): Map<string, { index: number; word: number }> {
  const words = new Map<string, { index: number; word: number }>();
  let word = BATCH.pointers;
  schema.forEach((feed, index) => {
    words.set(feed.name, { index, word });
    word += feed.kind === 'ragged' ? 2 : 1;
  });
  return words;
}
