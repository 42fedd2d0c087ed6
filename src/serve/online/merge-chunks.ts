/** @file Encoded rows of several callers, one after the other in one batch. */
import type { EncodedChunk } from '../chunks.js';

type Flat = Float32Array | BigInt64Array;
interface Ragged {
  readonly splits: Int32Array;
  readonly values: BigInt64Array;
}

/** One chunk of all rows. All have been encoded by one schema. */
export function mergeChunks(chunks: readonly EncodedChunk[]): EncodedChunk {
  if (chunks.length === 1) return chunks[0]!;
  const count = chunks.reduce((sum, chunk) => sum + chunk.count, 0);
  // A time that no row of a caller has is fed by none of them.
  const shared = Object.keys(chunks[0]!.feeds).filter((name) => chunks.every(({ feeds }) => feeds[name] !== undefined));
  const feeds = shared.map((name) => {
    const parts = chunks.map((chunk) => chunk.feeds[name] as Flat | Ragged);
    return [name, 'splits' in parts[0]! ? raggedOf(parts as Ragged[], count) : flatOf(parts as Flat[])] as const;
  });
  return { feeds: Object.fromEntries(feeds), count };
}

function flatOf(parts: readonly Flat[]): Flat {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const all = parts[0] instanceof Float32Array ? new Float32Array(length) : new BigInt64Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part as never, at);
    at += part.length;
  }
  return all;
}

function raggedOf(parts: readonly Ragged[], rows: number): Ragged {
  const splits = new Int32Array(rows + 1);
  let [row, before] = [0, 0];
  for (const part of parts) {
    for (let at = 1; at < part.splits.length; at++) splits[++row] = before + part.splits[at]!;
    before += part.values.length;
  }
  return { splits, values: flatOf(parts.map(({ values }) => values)) as BigInt64Array };
}
