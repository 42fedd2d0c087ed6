/** @file Tables laid out word by word, for kernels and their twins: any mix of segments, over a heap of its own. */
import fc from 'fast-check';
import { OPTIMIZER_NUMBER, PARAMETER_BLOCK, PARAMETER_FLAG } from '../../src/memory/optimizer-layout.js';
import {
  BAD_GRADIENTS,
  COMPRESSOR,
  INITIALIZER,
  PARTITION_BYTES,
  RETRIEVER,
  SEGMENT,
  SEGMENT_FLAG,
  segmentAt,
  TABLE,
  TABLE_FLAG,
  tableBytes,
} from '../../src/memory/table-layout.js';
import type { Views } from '../../src/memory/views.js';
import * as reference from '../../src/runtime/backends/reference/table.js';
import type { TableKernels } from '../../src/runtime/backends/wasm/calls/table.js';
import { layHeapOut } from '../../src/runtime/tables/table-memory.js';
import type { KernelHarness } from './harness.js';

type Twins = {
  readonly [K in keyof TableKernels]: (m: Views, ...args: Parameters<TableKernels[K]>) => ReturnType<TableKernels[K]>;
};
/** The plain twins, held by the compiler to the signatures of the kernels. */
export const twins: Twins = reference;

export type OptimizerName = keyof typeof OPTIMIZER_NUMBER;

export interface SegmentShape {
  readonly dim: number;
  readonly optimizer: OptimizerName;
  readonly initializer: keyof typeof INITIALIZER;
  readonly retriever: keyof typeof RETRIEVER;
  readonly compressor: keyof typeof COMPRESSOR;
  readonly rounds: boolean;
  /** Nesterov, standard l1 or decoupled decay, where the optimizer has one. */
  readonly varied: boolean;
  readonly globalStep: number;
}

export interface TableShape {
  readonly segments: readonly SegmentShape[];
  readonly log2Partitions: number;
  readonly heapBytes?: number;
  readonly serving?: boolean;
  readonly badGradients?: keyof typeof BAD_GRADIENTS;
}

export interface TestTable {
  readonly address: number;
  readonly dim: number;
  readonly partitions: number;
}

interface Rule {
  readonly stateFloats: (dim: number) => number;
  readonly values: readonly number[];
  readonly flag?: number;
}

const RULES: Readonly<Record<OptimizerName, Rule>> = {
  adagrad: { stateFloats: (n) => n, values: [0.01] },
  sgd: { stateFloats: () => 0, values: [] },
  ftrl: { stateFloats: (n) => 2 * n, values: [1, 0.01, 0.1], flag: PARAMETER_FLAG.standardL1 },
  dynamicWdAdagrad: { stateFloats: (n) => n, values: [0.01], flag: PARAMETER_FLAG.decoupled },
  adadelta: { stateFloats: (n) => 2 * n, values: [0.01, 0.9, 0.01] },
  adam: { stateFloats: (n) => 2 * n + 2, values: [0.9, 0.99, 0.01, 0.01], flag: PARAMETER_FLAG.nesterov },
  amsgrad: { stateFloats: (n) => 3 * n + 2, values: [0.9, 0.99, 0, 0.01], flag: PARAMETER_FLAG.nesterov },
  momentum: { stateFloats: (n) => n, values: [0.01, 0.9], flag: PARAMETER_FLAG.nesterov },
  movingAverage: { stateFloats: () => 0, values: [0.9] },
  rmsprop: { stateFloats: (n) => n, values: [0.01, 0.9, 0.05] },
  rmspropv2: { stateFloats: (n) => n, values: [0.01, 0.9] },
  groupFtrl: { stateFloats: (n) => 2 * n, values: [1, 0.01, 0.1] },
  batchSoftmax: { stateFloats: () => 2, values: [] },
  groupAdagrad: { stateFloats: () => 1, values: [1, 0.01, 0.01] },
};
export const OPTIMIZER_NAMES = Object.keys(RULES) as OptimizerName[];
const ENCODED_BYTES = { fp32: 4, fp16: 2, fixedR8: 1, oneBit: 1 } as const;

/** Segments of any kind. What one_bit shows is compared within a tolerance, so it stays away from what jumps. */
export const segmentShapes: fc.Arbitrary<SegmentShape> = fc
  .record({
    dim: fc.oneof(fc.integer({ min: 1, max: 21 }), fc.constantFrom(16, 32)),
    optimizer: fc.constantFrom(...OPTIMIZER_NAMES),
    initializer: fc.constantFrom('zeros', 'uniform', 'constant'),
    retriever: fc.constantFrom('raw', 'raw', 'fixedR8', 'oneBit'),
    compressor: fc.constantFrom('fp32', 'fp16', 'fixedR8', 'oneBit'),
    rounds: fc.boolean(),
    varied: fc.boolean(),
    globalStep: fc.constantFrom(0, 7, 200, 1e6),
  } as const)
  .map((shape) => {
    if (shape.optimizer === 'batchSoftmax') return { ...shape, dim: 1 };
    const jumps = shape.rounds || !['sgd', 'adagrad', 'adam', 'momentum', 'rmsprop'].includes(shape.optimizer);
    return shape.retriever === 'oneBit' && jumps ? { ...shape, retriever: 'raw' } : shape;
  });

export const tableShapes: fc.Arbitrary<TableShape> = fc.record({
  segments: fc.array(segmentShapes, { minLength: 1, maxLength: 3 }),
  log2Partitions: fc.constantFrom(0, 2, 6),
  badGradients: fc.constantFrom('fail', 'skip'),
});

/** True when a segment's numbers come from tanh, in which kernel and twin differ in the last digits. */
export function isApproximate(shape: TableShape): boolean {
  return shape.segments.some((segment) => segment.retriever === 'oneBit');
}

/** An empty table with a heap, in memory that need not be clear. */
export function layTable(h: KernelHarness, shape: TableShape, heapBytes = shape.heapBytes ?? 1 << 19): TestTable {
  const { segments, log2Partitions, serving = false, badGradients = 'fail' } = shape;
  const sum = (value: (segment: SegmentShape) => number) => segments.reduce((total, s) => total + value(s), 0);
  const dim = sum((s) => s.dim);
  const stateFloats = sum((s) => RULES[s.optimizer].stateFloats(s.dim));
  const bodyBytes = serving ? sum((s) => s.dim * ENCODED_BYTES[s.compressor]) : (dim + stateFloats) * 4;
  const rowBytes = Math.ceil(bodyBytes / 16) * 16;
  const [address, partitions] = [h.alloc(tableBytes(segments.length)), h.alloc(PARTITION_BYTES << log2Partitions)];
  const heap = h.alloc(heapBytes);
  layHeapOut(h.views, heap, heap + heapBytes);
  const isPlain = !serving && segments.every((s) => s.retriever === 'raw');
  const words: Partial<Record<keyof typeof TABLE, number>> = {
    ...{ partitionsLog2: log2Partitions, dim, stateFloats, rowBytes, segments: segments.length, heap, seed: 3 },
    ...{ zeroRow: h.alloc(Math.max(rowBytes, dim * 4)), partitions, bodyBytes },
    flags: (serving ? TABLE_FLAG.serving : 0) | (isPlain ? TABLE_FLAG.plain : 0),
    badGradients: BAD_GRADIENTS[badGradients],
  };
  for (const [name, value] of Object.entries(words))
    h.views.u32[address / 4 + TABLE[name as keyof typeof TABLE]] = value;
  const offsets = { weight: 0, state: 0, body: 0 };
  segments.forEach((segment, index) => {
    laySegment(h.views, segmentAt(address, index) / 4, segment, offsets);
    offsets.weight += segment.dim;
    offsets.state += RULES[segment.optimizer].stateFloats(segment.dim);
    offsets.body += segment.dim * ENCODED_BYTES[segment.compressor];
  });
  return { address, dim, partitions: 2 ** log2Partitions };
}

function laySegment(
  { u32, f32, i64 }: Views,
  at: number,
  segment: SegmentShape,
  offsets: { weight: number; state: number; body: number },
): void {
  const rule = RULES[segment.optimizer];
  u32[at + SEGMENT.dim] = segment.dim;
  u32[at + SEGMENT.weightOffset] = offsets.weight;
  u32[at + SEGMENT.stateOffset] = offsets.state;
  u32[at + SEGMENT.bodyOffset] = offsets.body;
  u32[at + SEGMENT.initializer] = INITIALIZER[segment.initializer];
  f32.set(segment.initializer === 'uniform' ? [-0.5, 0.5] : [0.25], at + SEGMENT.initialA);
  u32[at + SEGMENT.optimizer] = OPTIMIZER_NUMBER[segment.optimizer];
  u32[at + SEGMENT.flags] = segment.rounds ? SEGMENT_FLAG.roundsToHalf : 0;
  u32[at + SEGMENT.retriever] = RETRIEVER[segment.retriever];
  u32[at + SEGMENT.compressor] = COMPRESSOR[segment.compressor];
  f32.set([segment.retriever === 'oneBit' ? 0.5 : 1, 1, 1, 3], at + SEGMENT.amplitude);
  u32[at + SEGMENT.stepSize] = 100;
  u32[at + SEGMENT.drawStep] = 7;
  const block = at + SEGMENT.parameters;
  f32[block + PARAMETER_BLOCK.rate / 4] = 0.1;
  u32[block + PARAMETER_BLOCK.flags / 4] = segment.varied ? (rule.flag ?? 0) : 0;
  f32[block + PARAMETER_BLOCK.initial / 4] = 0.1;
  f32.set(rule.values, block + PARAMETER_BLOCK.values / 4);
  i64[(block * 4 + PARAMETER_BLOCK.globalStep) / 8] = BigInt(segment.globalStep);
}

/** Ids of a small range around 0, so that they meet again. */
export function drawIds(next: () => number, count: number, range = 900): bigint[] {
  return Array.from({ length: count }, () => BigInt(Math.floor(next() * range) - range / 2));
}

/** Makes rows of a gradient matrix bad here and there. */
export function spoil(next: () => number, gradients: Float32Array, share: number): Float32Array {
  const bad = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  return gradients.map((value) => (next() < share ? bad[Math.floor(next() * 3)]! : value));
}
