/**
 * @file A block of rows as bytes that are read back without a copy: words that say what there is, then the arrays, each
 * at a multiple of 8 bytes.
 *
 * ```
 * | rows | feeds | keys | offsets | rows before some were left out | - | kind, splits, values of each feed | arrays … |
 * ```
 */
import type { FeedData } from '../../memory/batch.js';
import type { Block } from '../quick/block.js';

const HEAD_WORDS = 6;
const FEED_WORDS = 4;
const KINDS = ['none', 'dense', 'ids', 'ragged'] as const;
/** No numbers of rows that were left out. */
const NONE = -1;

/** A block of which feeds may be absent. */
export type CachedBlock = Omit<Block, 'feeds'> & { readonly feeds: readonly (FeedData | undefined)[] };

const padded = (bytes: number) => Math.ceil(bytes / 8) * 8;
const headBytes = (feeds: number) => padded((HEAD_WORDS + FEED_WORDS * feeds) * 4);

type Values = Float32Array | BigInt64Array | Int32Array;

export function encodeBlock({ rows, feeds, keys, numbers }: CachedBlock): Uint8Array {
  const offsets = numbers && Int32Array.from(numbers.offsets);
  const arrays: Values[] = [];
  const words = [rows, feeds.length, keys?.length ?? NONE, offsets?.length ?? NONE, numbers?.count ?? 0, 0];
  for (const feed of feeds) {
    const splits = feed?.kind === 'ragged' ? feed.splits : undefined;
    words.push(KINDS.indexOf(feed?.kind ?? 'none'), splits?.length ?? 0, feed?.values.length ?? 0, 0);
    if (splits !== undefined) arrays.push(splits as Int32Array);
    if (feed !== undefined) arrays.push(feed.values as Values);
  }
  if (keys !== undefined) arrays.push(keys);
  if (offsets !== undefined) arrays.push(offsets);
  const bytes = new Uint8Array(
    headBytes(feeds.length) + arrays.reduce((sum, { byteLength }) => sum + padded(byteLength), 0),
  );
  bytes.set(new Uint8Array(Int32Array.from(words).buffer));
  let at = headBytes(feeds.length);
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += padded(array.byteLength);
  }
  return bytes;
}

/** The block of bytes that a checksum was held to; they begin at a multiple of 8 of their buffer. */
export function decodeBlock(bytes: Uint8Array<ArrayBuffer>): CachedBlock {
  const { buffer, byteOffset } = bytes;
  const [rows, feedCount, keyCount, offsetCount, count] = new Int32Array(buffer, byteOffset, HEAD_WORDS) as never as [
    number,
    number,
    number,
    number,
    number,
  ];
  const words = new Int32Array(buffer, byteOffset + HEAD_WORDS * 4, feedCount * FEED_WORDS);
  let at = byteOffset + headBytes(feedCount);
  const take = <A extends Values>(
    type: new (from: ArrayBuffer, at: number, length: number) => A,
    length: number,
  ): A => {
    const array = new type(buffer, at, length);
    at += padded(array.byteLength);
    return array;
  };
  const feeds = Array.from({ length: feedCount }, (_, feed): FeedData | undefined => {
    const [kind, splits, values] = words.subarray(feed * FEED_WORDS) as never as [number, number, number];
    switch (KINDS[kind]) {
      case 'dense':
        return { kind: 'dense', values: take(Float32Array, values) };
      case 'ids':
        return { kind: 'ids', values: take(BigInt64Array, values) };
      case 'ragged':
        return { kind: 'ragged', splits: take(Int32Array, splits), values: take(BigInt64Array, values) };
      default:
        return undefined;
    }
  });
  const keys = keyCount === NONE ? undefined : take(BigInt64Array, keyCount);
  if (offsetCount === NONE) return { rows, feeds, keys };
  return { rows, feeds, keys, numbers: { count, offsets: [...take(Int32Array, offsetCount)] } };
}
