/**
 * @file The control block of a table in one bank: made from a plan, and the few words of it that change.
 *
 * src/memory/table-layout.ts names the words. A table that lies in several banks has a block in each; rates and steps
 * are written to all of them, rows are counted over all of them.
 */
import { MonolithError } from '../../base/errors.js';
import { PARAMETER_BLOCK } from '../../memory/optimizer-layout.js';
import {
  BAD_GRADIENTS,
  COMPRESSOR,
  HEAP,
  HEAP_BLOCK_MAX,
  INITIALIZER,
  OVERFLOW,
  PARTITION,
  PARTITION_BYTES,
  PARTITIONS,
  PARTITIONS_LOG2,
  RETRIEVER,
  SEGMENT,
  SEGMENT_FLAG,
  segmentAt,
  TABLE,
  TABLE_FLAG,
  tableBytes,
} from '../../memory/table-layout.js';
import type { Views } from '../../memory/views.js';
import type { TableBank } from '../../runtime/tables/table-banks.js';
import { writeParameters } from '../config/optimizer-plan.js';
import { hashNetScaleBefore } from '../config/retriever.js';
import type { SegmentPlan, TablePlan } from '../config/table-plan.js';

export interface ControlOptions {
  readonly seed: number;
  readonly badGradients: keyof typeof BAD_GRADIENTS;
}

/** A table in one bank. */
export interface BankTable {
  readonly bank: TableBank;
  /** Address of the control block. */
  readonly address: number;
}

/** Memory of a bank's heap, or ML_MEMORY with what it was for. */
export function heapBlock({ kernels, views, heap }: TableBank, bytes: number, name: string): number {
  const at = bytes > HEAP_BLOCK_MAX ? 0 : kernels.heapAlloc(heap, bytes) >>> 0;
  if (at !== 0) return at;
  const free = views.u32[heap / 4 + HEAP.end]! - views.u32[heap / 4 + HEAP.top]!;
  throw new MonolithError('ML_MEMORY', { name, bytes, free }, { hint: 'give tables more memory' });
}

/** Whether what a table takes of its memory may depend on more than its ids and their order. */
export function hasRemovals({ bank, address }: BankTable): boolean {
  const block = bank.views.u32[address / 4 + TABLE.overflow]!;
  return block !== 0 && bank.views.u32[block / 4 + OVERFLOW.hasRemovals] !== 0;
}

/** Says so, of a table that has an overflow block. */
export function noteRemovals(tables: readonly BankTable[]): void {
  for (const { bank, address } of tables) {
    const block = bank.views.u32[address / 4 + TABLE.overflow]!;
    if (block !== 0) bank.views.u32[block / 4 + OVERFLOW.hasRemovals] = 1;
  }
}

/** Sizes of the blocks a control block is made of: words and segments, partitions, the row absent ids read. */
function blockBytes(plan: TablePlan): { words: number; partitions: number; zeroRow: number } {
  return {
    words: tableBytes(plan.segments.length),
    partitions: PARTITION_BYTES * PARTITIONS,
    zeroRow: Math.max(plan.rowBytes, plan.dim * 4),
  };
}

/** Makes the control block of an empty table; returns its address. Nothing is taken when there is too little room. */
export function writeControl(bank: TableBank, name: string, plan: TablePlan, options: ControlOptions): number {
  const { u32 } = bank.views;
  const bytes = blockBytes(plan);
  const address = heapBlock(bank, bytes.words, `${name}/table`);
  const at = address / 4;
  try {
    u32[at + TABLE.zeroRow] = heapBlock(bank, bytes.zeroRow, `${name}/zero row`);
    u32[at + TABLE.partitions] = heapBlock(bank, bytes.partitions, `${name}/partitions`);
  } catch (cause) {
    freeControl({ bank, address }, plan);
    throw cause;
  }
  u32[at + TABLE.partitionsLog2] = PARTITIONS_LOG2;
  u32[at + TABLE.dim] = plan.dim;
  u32[at + TABLE.stateFloats] = plan.stateFloats;
  u32[at + TABLE.rowBytes] = plan.rowBytes;
  u32[at + TABLE.segments] = plan.segments.length;
  u32[at + TABLE.heap] = bank.heap;
  u32[at + TABLE.seed] = options.seed;
  u32[at + TABLE.flags] = (plan.serving ? TABLE_FLAG.serving : 0) | (plan.plain ? TABLE_FLAG.plain : 0);
  u32[at + TABLE.bodyBytes] = plan.bodyBytes;
  u32[at + TABLE.badGradients] = BAD_GRADIENTS[options.badGradients];
  plan.segments.forEach((segment, index) => {
    writeSegment(bank.views, segmentAt(address, index), segment, plan.serving);
  });
  return address;
}

function writeSegment(views: Views, at: number, segment: SegmentPlan, serving: boolean): void {
  const { u32, f32 } = views;
  const { dim, weightOffset, stateOffset, byteOffset, initializer, optimizer, compressor } = segment;
  const word = at / 4;
  u32.set([dim, weightOffset, stateOffset, INITIALIZER[initializer.kind]], word);
  const first = initializer.kind === 'uniform' ? [initializer.minval, initializer.maxval] : [initializer.value, 0];
  f32.set(first, word + SEGMENT.initialA);
  u32[word + SEGMENT.optimizer] = optimizer.number;
  u32[word + SEGMENT.flags] = optimizer.roundsToHalf ? SEGMENT_FLAG.roundsToHalf : 0;
  const { kind, r, amplitude, initScale, maxScale, stepSize } = compressor;
  const quantizes = !serving && (kind === 'fixedR8' || kind === 'oneBit');
  u32[word + SEGMENT.retriever] = quantizes ? RETRIEVER[kind] : RETRIEVER.raw;
  f32[word + SEGMENT.amplitude] = kind === 'oneBit' ? amplitude : r;
  f32[word + SEGMENT.scale] = initScale;
  f32[word + SEGMENT.initScale] = initScale;
  f32[word + SEGMENT.maxScale] = maxScale;
  u32[word + SEGMENT.stepSize] = stepSize;
  u32[word + SEGMENT.compressor] = COMPRESSOR[kind];
  u32[word + SEGMENT.bodyOffset] = byteOffset;
  writeParameters(views, at + SEGMENT.parameters * 4, optimizer);
  views.i64[(word + SEGMENT.drawStep) / 2] = 0n;
}

/** Gives the memory of a control block back, one that was made in part too; the table must be clear. */
export function freeControl({ bank, address }: BankTable, plan: TablePlan): void {
  const { kernels, views, heap } = bank;
  const bytes = blockBytes(plan);
  const [zeroRow, partitions] = [TABLE.zeroRow, TABLE.partitions].map((word) => views.u32[address / 4 + word]!);
  if (zeroRow !== 0) kernels.heapFree(heap, zeroRow!, bytes.zeroRow);
  if (partitions !== 0) kernels.heapFree(heap, partitions!, bytes.partitions);
  kernels.heapFree(heap, address, bytes.words);
}

/** The rates of all segments as they are. */
export function ratesOf({ bank, address }: BankTable, segmentCount: number): number[] {
  return Array.from({ length: segmentCount }, (_, index) => {
    const block = segmentAt(address, index) + SEGMENT.parameters * 4;
    return bank.views.f32[(block + PARAMETER_BLOCK.rate) / 4]!;
  });
}

/** Sets the rate of each segment in all banks; `null` leaves it. */
export function setRatesOf(tables: readonly BankTable[], rates: readonly (number | null)[]): void {
  for (const { bank, address } of tables) {
    rates.forEach((rate, index) => {
      const block = segmentAt(address, index) + SEGMENT.parameters * 4;
      if (rate !== null) bank.views.f32[(block + PARAMETER_BLOCK.rate) / 4] = rate;
    });
  }
}

export interface StepOptions {
  readonly globalStep: bigint;
  /** False for callers that count no steps: rounding then draws as if this one came after the last. */
  readonly isCounted: boolean;
}

/** Sets what a step depends on, of each segment in all banks: rates, the global step, and what follows from that. */
export function setStepOf(tables: readonly BankTable[], rates: readonly (number | null)[], options: StepOptions): void {
  const { globalStep, isCounted } = options;
  setRatesOf(tables, rates);
  for (const { bank, address } of tables) {
    const { i64 } = bank.views;
    for (let index = 0; index < rates.length; index++) {
      const segment = segmentAt(address, index);
      const draw = segment / 8 + SEGMENT.drawStep / 2;
      i64[draw] = isCounted ? globalStep : i64[draw]! + 1n;
      i64[(segment + SEGMENT.parameters * 4 + PARAMETER_BLOCK.globalStep) / 8] = globalStep;
      setScale(bank.views, segment / 4, globalStep);
    }
  }
}

/** All words that setStepOf writes. */
export function stepWordsOf(
  tables: readonly BankTable[],
  segmentCount: number,
): { readonly views: Views; readonly address: number }[] {
  return tables.flatMap(({ bank: { views }, address }) =>
    Array.from({ length: segmentCount }, (_, index) => segmentAt(address, index)).flatMap((segment) => {
      const parameters = segment + SEGMENT.parameters * 4;
      const [draw, step] = [segment + SEGMENT.drawStep * 4, parameters + PARAMETER_BLOCK.globalStep];
      const words = [parameters + PARAMETER_BLOCK.rate, draw, draw + 4, step, step + 4, segment + SEGMENT.scale * 4];
      return words.map((word) => ({ views, address: word }));
    }),
  );
}

/**
 * The scale that a one_bit segment has after all steps before `globalStep`, whoever took them: a restored table has it
 * too.
 */
function setScale({ u32, f32 }: Views, word: number, globalStep: bigint): void {
  if (u32[word + SEGMENT.retriever] !== RETRIEVER.oneBit) return;
  const [initScale, maxScale] = [f32[word + SEGMENT.initScale]!, f32[word + SEGMENT.maxScale]!];
  const options = { initScale, maxScale, stepSize: u32[word + SEGMENT.stepSize]! };
  f32[word + SEGMENT.scale] = hashNetScaleBefore(options, globalStep);
}

/** Word of partition 0 in the bank's memory; partitions are PARTITION_BYTES apart. */
export function partitionWord({ bank, address }: BankTable, partition: number): number {
  return (bank.views.u32[address / 4 + TABLE.partitions]! + partition * PARTITION_BYTES) / 4;
}

/** Sum of a word over the partitions of a bank's table. */
export function sumOverPartitions(table: BankTable, value: (u32: Uint32Array, partition: number) => number): number {
  let sum = 0;
  for (let p = 0; p < PARTITIONS; p++) sum += value(table.bank.views.u32, partitionWord(table, p));
  return sum;
}

export const rowsOf = (table: BankTable): number =>
  sumOverPartitions(table, (u32, partition) => u32[partition + PARTITION.rows]!);

/** Gradients that were NaN or infinite so far. */
export const badGradientsOf = ({ bank, address }: BankTable): number =>
  Atomics.load(bank.views.u32, address / 4 + TABLE.badGradientRows);

/** New ids that got no row because the heap was full. */
export const passedOverOf = (table: BankTable): number =>
  sumOverPartitions(table, (u32, partition) => u32[partition + PARTITION.passedOver]!);

export function maxUpdateTimeOf({ bank, address }: BankTable): bigint {
  return Atomics.load(bank.views.i64, address / 8 + TABLE.maxUpdateTime / 2);
}

/** The largest of the times seen becomes at least `timeSec`. */
export function raiseUpdateTime({ bank, address }: BankTable, timeSec: number): void {
  const at = address / 8 + TABLE.maxUpdateTime / 2;
  const time = BigInt(timeSec);
  for (let seen = Atomics.load(bank.views.i64, at); seen < time; ) {
    const found = Atomics.compareExchange(bank.views.i64, at, seen, time);
    if (found === seen) return;
    seen = found;
  }
}
