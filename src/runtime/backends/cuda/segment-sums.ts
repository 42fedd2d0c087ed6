/**
 * @file Which kernel adds gradients by atomics, and what it becomes when they are sorted by id first.
 *
 * Pure: an instruction goes in, and what a launch of segmentSumF32 or segmentSumSlicesF32 takes comes out.
 */
import { KERNEL, type Kernel } from '../../kernels/kernels.js';
import { type GradientSource, WORDS_PER_ENTRY } from './gradient-sort.js';
import type { Instruction, ProgramText } from './read-program.js';
import type { Extent } from './step-plan.js';

/** An operand of the launch: one of the instruction, by its index, or what only the sorted sum has. */
export type SumOperand =
  | { readonly operand: number }
  | { readonly constant: number }
  | { readonly pieces: true }
  | 'sorted'
  | 'segments'
  | 'none';

export interface SegmentSum {
  /** Name of the kernel on the device. */
  readonly kernel: string;
  readonly source: GradientSource;
  /** Entries of the sorted list for each id of the inverse, at most. */
  readonly entriesPerId: number;
  /** Operands of the instruction: where the sums are, and the floats between them. */
  readonly sums: number;
  readonly sumStride: number;
  readonly operands: readonly SumOperand[];
  /** Operands of the instruction that only the sort reads. */
  readonly sortOnly: ReadonlySet<number>;
}

/** A piece of scatterSlicesF32; offset and floats of a row of sums. */
export interface SumPiece {
  readonly first: number;
  readonly ids: number;
  readonly offset: number;
  readonly floats: number;
}

const RAGGED: ReadonlySet<Kernel> = new Set([KERNEL.scatterAddF32, KERNEL.scatterMeanF32, KERNEL.firstNGradF32]);

/** Null for a kernel that is no sum of gradients. `pieces` are asked for when it is one of slices. */
export function segmentSumOf(
  instruction: Instruction,
  u32: Uint32Array,
  pieces: () => readonly SumPiece[],
): SegmentSum | null {
  if (RAGGED.has(instruction.kernel)) return raggedSum(instruction, u32);
  return instruction.kernel === KERNEL.scatterSlicesF32 ? sliceSum(instruction, u32, pieces()) : null;
}

function raggedSum({ kernel, operands }: Instruction, u32: Uint32Array): SegmentSum {
  const [inverse, splits, rows] = [operands[2]!, operands[3]!, operands[4]!];
  const isFirstN = kernel === KERNEL.firstNGradF32;
  const isMean = kernel === KERNEL.scatterMeanF32;
  const firstN = isFirstN ? u32[operands[6]!]! : 0;
  const sums = isFirstN ? 7 : 6;
  return {
    kernel: 'segmentSumF32',
    source: { kind: 'ragged', inverse, splits, rows, firstN },
    entriesPerId: 1,
    sums,
    sumStride: sums + 1,
    operands: [
      { operand: 0 },
      { operand: 1 },
      'sorted',
      'segments',
      isMean ? { operand: 3 } : 'none',
      { constant: Math.max(1, firstN) },
      { operand: 5 },
      { operand: sums },
      { operand: sums + 1 },
    ],
    sortOnly: new Set(isMean ? [2] : [2, 3]),
  };
}

function sliceSum({ operands }: Instruction, u32: Uint32Array, pieces: readonly SumPiece[]): SegmentSum {
  const [inverse, rows, idsPerRow] = [operands[0]!, operands[2]!, u32[operands[1]!]!];
  const width = Math.max(0, ...pieces.map(({ offset, floats }) => offset + floats));
  const inQuads = pieces.every(({ offset, floats }) => offset % 4 === 0 && floats % 4 === 0);
  return {
    kernel: 'segmentSumSlicesF32',
    source: { kind: 'slices', inverse, idsPerRow, rows, pieces },
    entriesPerId: pieces.reduce((sum, { ids }) => sum + ids, 0) / idsPerRow,
    sums: 5,
    sumStride: 6,
    operands: [
      'sorted',
      'segments',
      { pieces: true },
      { constant: pieces.length },
      { operand: 5 },
      { operand: 6 },
      { constant: width },
      { constant: inQuads ? 1 : 0 },
      { operand: 2 },
      { constant: Math.max(0, ...pieces.map(({ ids }) => ids)) },
    ],
    sortOnly: new Set([0]),
  };
}

/** How much of a sorted list there is in a step; undefined when that is not known. */
export function entriesExtent(source: GradientSource, { feeds, feedRegisters }: ProgramText): Extent | undefined {
  const bytes = WORDS_PER_ENTRY * 4;
  if (source.kind === 'slices') {
    return { scale: bytes * source.pieces.reduce((sum, { ids }) => sum + ids, 0), words: [source.rows] };
  }
  const use = feedRegisters.get(source.splits);
  const splits = use === undefined ? undefined : feeds[use.feed]!;
  const values = feeds.find(({ pointerWord }) => pointerWord === (splits?.pointerWord ?? Number.NaN) + 1);
  return values === undefined ? undefined : { scale: bytes, words: [values.countRegister] };
}
