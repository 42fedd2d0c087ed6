/** @file The group of each example of a batch in shared memory, read from one of its feeds. */
import { MonolithError } from '../base/errors.js';
import { BATCH, type BatchSchema } from '../memory/batch.js';
import { type Views, view } from '../memory/views.js';

/** The first id of each row of a feed of ids, or the value of a dense feed of width 1. */
export function groupKeysOf(
  { views, schema }: { readonly views: Views; readonly schema: BatchSchema },
  batch: number,
  name: string,
): BigInt64Array | Float32Array {
  let word = BATCH.pointers;
  const spec = schema.find((feed) => {
    if (feed.name === name) return true;
    word += feed.kind === 'ragged' ? 2 : 1;
    return false;
  });
  if (spec === undefined) throw new MonolithError('ML_FEED', { name, reason: 'the input has no feed of this name' });
  const rows = views.u32[batch / 4 + BATCH.rows]!;
  const pointer = views.u32[batch / 4 + word]!;
  if (pointer === 0) throw new MonolithError('ML_FEED', { name, reason: 'the batch has no values of it' });
  if (spec.kind === 'dense') {
    if (spec.width !== 1) throw new MonolithError('ML_FEED', { name, reason: `groups of ${spec.width} floats` });
    return view(Float32Array, views.buffer, pointer, rows, name).slice();
  }
  if (spec.kind === 'ids') {
    const ids = view(BigInt64Array, views.buffer, pointer, rows * spec.width, name);
    return BigInt64Array.from({ length: rows }, (_, row) => ids[row * spec.width]!);
  }
  const splits = view(Int32Array, views.buffer, pointer, rows + 1, name);
  const values = view(BigInt64Array, views.buffer, views.u32[batch / 4 + word + 1]!, splits[rows]!, name);
  return BigInt64Array.from({ length: rows }, (_, row) => {
    if (splits[row] === splits[row + 1]) throw new MonolithError('ML_FEED', { name, reason: `row ${row} has no id` });
    return values[splits[row]!]!;
  });
}
