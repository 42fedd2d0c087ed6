/**
 * @file Where an input of several passes stands, as checkpoints keep it.
 *
 * A place is good for the data it was taken from. Nobody can compare all of it, so a place has the checksum of the
 * first batch: other rows, another order or another size of batches begin anew.
 */
import { crc32c } from '../base/crc32c.js';
import type { InputState } from '../base/input-state.js';
import type { PartialBatchData } from '../memory/batch.js';

/** The batch that comes next: its number in the pass, and the number of the pass. */
export interface BatchPlace {
  readonly pass: number;
  readonly batch: number;
}

/** Where an input that was to go on begins. */
export interface InputBegin extends BatchPlace {
  /** The place it was given is of other data, or of batches of another size. */
  readonly isOther: boolean;
}

/** What an input can be told by from others, and how long it is. */
export interface InputIdentity {
  /** Checksum of the first batch. */
  readonly data: number;
  /** Infinity for an input that begins again and again. */
  readonly epochs: number;
}

export const AT_START: InputBegin = { pass: 0, batch: 0, isOther: false };
const OF_OTHER: InputBegin = { pass: 0, batch: 0, isOther: true };

export function placeState({ data, epochs }: InputIdentity, { pass, batch }: BatchPlace): InputState {
  return { data, epochs: Number.isFinite(epochs) ? epochs : null, pass, batch };
}

/**
 * Where to begin, given what `placeState` said. An input of so many passes goes on with one of as many that was broken
 * off; one without an end wherever the last one was left.
 */
export function beginOf(state: InputState, { data, epochs }: InputIdentity): InputBegin {
  const found = (state ?? {}) as { readonly [key: string]: InputState };
  const { pass, batch } = found;
  if (found.data !== data || !isCount(pass) || !isCount(batch)) return OF_OTHER;
  const goesOn = epochs === Number.POSITIVE_INFINITY || found.epochs === epochs;
  return goesOn ? { pass, batch, isOther: false } : AT_START;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Checksum of a batch. */
export function batchDigest({ rows, feeds }: PartialBatchData): number {
  let crc = crc32c(bytesOf(Int32Array.of(rows, feeds.length)));
  for (const feed of feeds) {
    if (feed === undefined) continue;
    if (feed.kind === 'ragged') crc = crc32c(bytesOf(feed.splits), crc);
    crc = crc32c(bytesOf(feed.values), crc);
  }
  return crc;
}

// A copy: the native checksum takes no shared memory.
const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  new Uint8Array(buffer, byteOffset, byteLength).slice();
