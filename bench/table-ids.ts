/** @file Ids of the table bench: the rows of a table, and batches of ids drawn from them. */
import { mix64 } from '../src/memory/hash.js';

export const DISTRIBUTIONS = ['uniform', 'zipf 1.1'] as const;
export type Distribution = (typeof DISTRIBUTIONS)[number];

/** Ids as pairs of u32, low half first: a bigint for each of ten millions would take longer than the bench. */
export type IdLanes = Uint32Array;

const ZIPF_EXPONENT = 1.1;
/** Odd and prime: it orders the rows so that those of the frequent ids do not lie side by side. */
const ORDER_STEP = 7919;

/** Seeded numbers in [0, 1). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  const lanes = new Uint32Array(2);
  return () => {
    state = (state + 1) >>> 0;
    mix64(state, seed, lanes);
    return lanes[0]! / 2 ** 32;
  };
}

/** The ids of ranks 0..count-1: hashes, as real ids are, all different because the hash is a bijection. */
function idsOf(ranks: ArrayLike<number>): IdLanes {
  const ids = new Uint32Array(ranks.length * 2);
  const lanes = new Uint32Array(2);
  for (let i = 0; i < ranks.length; i++) {
    mix64(ranks[i]!, 0x5eed, lanes);
    ids.set(lanes, i * 2);
  }
  return ids;
}

/** Every id of a table of `rows` rows, in the order they are put in. */
export function tableIds(rows: number): IdLanes {
  const ranks = new Uint32Array(rows);
  for (let i = 0; i < rows; i++) ranks[i] = (i * ORDER_STEP) % rows;
  return idsOf(ranks);
}

function rankSource(distribution: Distribution, rows: number, random: () => number): () => number {
  if (distribution === 'uniform') return () => Math.floor(random() * rows);
  const top = rows ** (1 - ZIPF_EXPONENT);
  return () => Math.floor(((top - 1) * random() + 1) ** (1 / (1 - ZIPF_EXPONENT))) - 1;
}

/** `count` batches of `size` ids; with `unique`, each id of a batch once, so that batches are smaller. */
export function drawBatches(
  options: { distribution: Distribution; rows: number; count: number; size: number; unique: boolean },
  seed: number,
): IdLanes[] {
  const { distribution, rows, count, size, unique } = options;
  const rankOf = rankSource(distribution, rows, randomOf(seed));
  const seenIn = new Uint32Array(rows);
  return Array.from({ length: count }, (_, batch) => {
    const ranks: number[] = [];
    for (let i = 0; i < size; i++) {
      const rank = rankOf();
      if (unique && seenIn[rank] === batch + 1) continue;
      seenIn[rank] = batch + 1;
      ranks.push(rank);
    }
    return idsOf(ranks);
  });
}

/** Parts of a batch by owner: the half of the partitions that the top bit of the hash names. */
export function splitByOwner(ids: IdLanes): [IdLanes, IdLanes] {
  const parts: [number[], number[]] = [[], []];
  const lanes = new Uint32Array(2);
  for (let i = 0; i < ids.length; i += 2) {
    mix64(ids[i]!, ids[i + 1]!, lanes);
    parts[lanes[1]! >>> 31]!.push(ids[i]!, ids[i + 1]!);
  }
  return [Uint32Array.from(parts[0]), Uint32Array.from(parts[1])];
}

/** The file bench/native/table.cpp reads batches from. */
export function batchFile(batches: readonly IdLanes[]): Uint8Array {
  const headWords = Math.ceil((1 + batches.length) / 2) * 2;
  const words = new Uint32Array(headWords + batches.reduce((sum, ids) => sum + ids.length, 0));
  words.set([batches.length, ...batches.map((ids) => ids.length / 2)]);
  let at = headWords;
  for (const ids of batches) {
    words.set(ids, at);
    at += ids.length;
  }
  return new Uint8Array(words.buffer);
}
