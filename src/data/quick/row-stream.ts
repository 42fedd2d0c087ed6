/** @file Rows of files in the order of one pass, as slots of a pool: parted, shuffled, cut off. */
import { MonolithError } from '../../base/errors.js';
import { hashU32 } from '../../base/random.js';
import { type RowStep, ShuffleBuffer } from '../row-step.js';
import { hashId } from '../split-rows.js';
import type { Block } from './block.js';
import type { RowPool } from './row-pool.js';

const REST_ROWS = 512;

/** Steps that are done before rows are kept, and those on rows that are. */
export interface StepsInOrder {
  readonly before: readonly Extract<RowStep, { kind: 'split' | 'take' }>[];
  readonly shuffle: Extract<RowStep, { kind: 'shuffle' }> | undefined;
  readonly after: readonly Extract<RowStep, { kind: 'take' }>[];
  /** How often a pass is repeated. */
  readonly times: number;
}

/** The steps in the one order that rows as columns can take; undefined of any other. */
export function stepsInOrder(steps: readonly RowStep[]): StepsInOrder | undefined {
  const before: Extract<RowStep, { kind: 'split' | 'take' }>[] = [];
  const after: Extract<RowStep, { kind: 'take' }>[] = [];
  let shuffle: StepsInOrder['shuffle'];
  let times = 1;
  for (const step of steps) {
    if (times > 1 && step.kind !== 'repeat') return undefined;
    if (step.kind === 'repeat') times *= step.times;
    else if (step.kind === 'shuffle') {
      if (shuffle !== undefined) return undefined;
      shuffle = step;
    } else if (shuffle === undefined) before.push(step);
    else if (step.kind === 'take') after.push(step);
    else return undefined;
  }
  const keys = new Set(before.flatMap((step) => (step.kind === 'split' && step.by !== 'row' ? [step.by] : [])));
  return keys.size > 1 ? undefined : { before, shuffle, after, times };
}

/** The column whose hash parts rows. */
export function keyColumn({ before }: StepsInOrder): string | undefined {
  for (const step of before) if (step.kind === 'split' && step.by !== 'row') return step.by;
  return undefined;
}

/** Rows of a block that are wanted. */
export interface WantedRows {
  readonly block: Block;
  readonly rows: readonly number[];
}

/** The rows of `blocks` that no step leaves out, in their order. */
export async function* wantedRows(
  blocks: AsyncIterable<Block>,
  { before }: Pick<StepsInOrder, 'before'>,
): AsyncGenerator<WantedRows> {
  const filters = before.map((step) => new Filter(step));
  for await (const block of blocks) {
    let rows = allRows(block.rows);
    let isOver = false;
    for (const filter of filters) {
      rows = filter.keep(rows, block);
      isOver ||= filter.isOver;
    }
    if (rows.length > 0) yield { block, rows };
    if (isOver) return;
  }
}

/** Slots of rows in the order that a shuffle gives them, some at a time. */
export async function* shuffledSlots(
  blocks: AsyncIterable<Block>,
  steps: StepsInOrder,
  pool: RowPool,
  pass: number,
): AsyncGenerator<number[]> {
  const { buffer, seed } = steps.shuffle!;
  const held = new ShuffleBuffer<number>(buffer, seed, pass);
  let left = steps.after.reduce((least, { count }) => Math.min(least, count), Number.POSITIVE_INFINITY);
  const cut = (slots: number[]): number[] => {
    const kept = slots.length <= left ? slots : slots.slice(0, left);
    if (kept.length < slots.length) pool.free(slots.slice(kept.length));
    left -= kept.length;
    return kept;
  };
  for await (const { block, rows } of wantedRows(blocks, steps)) {
    const out = held.push(pool.add(block, rows));
    if (out.length > 0) yield cut(out);
    if (left <= 0) return;
  }
  while (held.size > 0 && left > 0) yield cut(held.rest(REST_ROWS));
}

let everyRow: number[] = [];

function allRows(count: number): number[] {
  if (everyRow.length < count) everyRow = Array.from({ length: count }, (_, row) => row);
  return everyRow.length === count ? everyRow : everyRow.slice(0, count);
}

/** A step that leaves rows out. */
class Filter {
  readonly #step: StepsInOrder['before'][number];
  #number = 0;
  isOver = false;

  constructor(step: StepsInOrder['before'][number]) {
    this.#step = step;
  }

  keep(rows: number[], block: Block): number[] {
    const step = this.#step;
    if (step.kind === 'take') {
      const kept = rows.slice(0, Math.max(0, step.count - this.#number));
      this.#number += rows.length;
      this.isOver = this.#number >= step.count;
      return kept;
    }
    const { by, seed, below, test } = step;
    if (by === 'row') {
      // Rows that were left out have a number too: which side a row is on must not depend on how it was read.
      const { offsets, count } = block.numbers ?? { offsets: undefined, count: block.rows };
      const isAll = rows.length === block.rows;
      const first = this.#number;
      this.#number += isAll ? count : rows.length;
      return rows.filter((row, index) => {
        const number = first + (isAll ? (offsets?.[row] ?? row) : index);
        return hashU32(seed, number) < below === test;
      });
    }
    const { keys } = block;
    if (keys === undefined) throw new MonolithError('ML_INTERNAL', { reason: `rows have no hash of ${by}` });
    return rows.filter((row) => hashId(seed, keys[row]!) < below === test);
  }
}
