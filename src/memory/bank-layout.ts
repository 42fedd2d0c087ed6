/**
 * @file What a program keeps about a table in other memories: where it is there, and where threads copy their ids to.
 *
 * Record, u32 words in the session's memory:
 * | 0 banks | 1 floats of a copied row | 2 ids a slice can have | 3 slices | 4 gate, or 0 |
 * | control block per bank … | bay per thread and bank … |
 * Bay, in the bank, for the ids of all slices; parts begin at multiples of 64:
 * | ids i64 | order u32, the identity | rows u32 | slots u32 | merged u32 |
 * | slice records | offsets of each slice | floats |
 */
import { APPLY_SLICE_BYTES, LOOKUP_SCRATCH_BYTES, PARTITIONS } from './table-layout.js';

export const BANKED = { banks: 0, rowFloats: 1, sliceIds: 2, slices: 3, gate: 4, addresses: 5 } as const;
/** The gate of an update, u32 words; filter and touched are 0 where there is none. Each thread has a buffer. */
export const GATE = { filter: 0, touched: 1, tableIndex: 2, buffers: 3, bufferBytes: 4 } as const;
export const GATE_WORDS = 5;
/** Offsets of the partitions of a slice, rounded up to whole lines. */
export const OFFSETS_BYTES = lines((PARTITIONS + 1) * 4);

export interface BayParts {
  readonly ids: number;
  readonly order: number;
  readonly rows: number;
  readonly slots: number;
  readonly merged: number;
  readonly records: number;
  readonly offsets: number;
  readonly scratch: number;
  /** Rows on their way out, or gradients on their way in: the two never meet. */
  readonly floats: number;
  readonly bytes: number;
}

/** Byte offsets of the parts of a bay. */
export function bayParts(sliceIds: number, slices: number, rowFloats: number): BayParts {
  const capacity = sliceIds * slices;
  let bytes = 0;
  const take = (size: number): number => {
    const at = bytes;
    bytes += lines(size);
    return at;
  };
  const parts = {
    ids: take(capacity * 8),
    order: take(capacity * 4),
    rows: take(capacity * 4),
    slots: take(capacity * 4),
    merged: take(capacity * 4),
    records: take(slices * APPLY_SLICE_BYTES),
    offsets: take(slices * OFFSETS_BYTES),
    scratch: take(LOOKUP_SCRATCH_BYTES),
    floats: take(capacity * rowFloats * 4),
  };
  return { ...parts, bytes };
}

/** Parts of the buffer of a gate, for the ids of all slices: byte offsets. */
export function gateParts(capacity: number, scratchBytes: number) {
  const ids = lines(scratchBytes);
  const counts = ids + lines(capacity * 8);
  return { scratch: 0, ids, counts, bytes: counts + lines(capacity * 4) };
}

/**
 * Bytes a thread needs in the session's memory to gather the ids and gradients of one slice: offsets, ids, gradients.
 */
export function gatherBytes(sliceIds: number, rowFloats: number): number {
  return OFFSETS_BYTES + lines(sliceIds * 8) + sliceIds * rowFloats * 4;
}

/**
 * What a slice keeps of a lookup: ids of a bank, copies of all rows, and a word for each id that is not 0 where it has
 * one.
 */
export function localParts(sliceIds: number, rowFloats: number) {
  const rows = lines(sliceIds * 8);
  const present = rows + lines(sliceIds * rowFloats * 4);
  return { ids: 0, rows, present, bytes: present + sliceIds * 4 };
}

export function lines(bytes: number): number {
  return Math.ceil(bytes / 64) * 64;
}

/** Words of a record. */
export function bankedWords(banks: number, threads: number): number {
  return BANKED.addresses + banks * (1 + threads);
}
