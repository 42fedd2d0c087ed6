/**
 * @file Which kernel adds gradients by atomics, and what it becomes when they are sorted by id first.
 *
 * Pure: an instruction goes in, and what a launch of segmentSumF32 or segmentSumSlicesF32 takes comes out.
 */
import { KERNEL } from '../../kernels/kernels.js';
import { type GradientSource, WORDS_PER_ENTRY } from './gradient-sort.js';
import { callOf, type Instruction, type ProgramText } from './read-program.js';
import type { Extent } from './step-plan.js';

/** An operand of the launch: a word of the instruction, by its name, or what only the sorted sum has. */
export type SumOperand = { readonly word: string } | { readonly constant: number } | 'sorted' | 'segments' | 'none';

export interface SegmentSum {
  /** Name of the kernel on the device. */
  readonly kernel: string;
  readonly source: GradientSource;
  /** Entries of the sorted list for each id of the inverse, at most. */
  readonly entriesPerId: number;
  /** Registers of where the sums are, and of the floats between them. */
  readonly sums: number;
  readonly sumsStride: number;
  readonly operands: readonly SumOperand[];
  /** Words of the instruction that only the sort reads. */
  readonly sortOnly: ReadonlySet<string>;
}

/** A piece of scatterSlicesF32; offset and floats of a row of sums. */
export interface SumPiece {
  readonly first: number;
  readonly ids: number;
  readonly offset: number;
  readonly floats: number;
}

/** Null for a kernel that is no sum of gradients. `pieces` are asked for when it is one of slices. */
export function segmentSumOf(
  instruction: Instruction,
  u32: Uint32Array,
  pieces: () => readonly SumPiece[],
): SegmentSum | null {
  return raggedSum(instruction, u32) ?? sliceSum(instruction, u32, pieces);
}

function raggedSum(instruction: Instruction, u32: Uint32Array): SegmentSum | null {
  const mean = callOf(instruction, KERNEL.scatterMeanF32);
  const first = callOf(instruction, KERNEL.firstNGradF32);
  const call = callOf(instruction, KERNEL.scatterAddF32) ?? mean ?? first;
  if (call === null) return null;
  const { inverse, splits, rows } = call;
  const firstN = first === null ? 0 : u32[first.n]!;
  return {
    kernel: 'segmentSumF32',
    source: { kind: 'ragged', inverse, splits, rows, firstN },
    entriesPerId: 1,
    sums: call.ugrad,
    sumsStride: call.ugradStride,
    operands: [
      { word: 'grad' },
      { word: 'gradStride' },
      'sorted',
      'segments',
      mean === null ? 'none' : { word: 'splits' },
      { constant: Math.max(1, firstN) },
      { word: 'dim' },
      { word: 'ugrad' },
      { word: 'ugradStride' },
    ],
    sortOnly: new Set(mean === null ? ['inverse', 'splits'] : ['inverse']),
  };
}

function sliceSum(
  instruction: Instruction,
  u32: Uint32Array,
  listPieces: () => readonly SumPiece[],
): SegmentSum | null {
  const call = callOf(instruction, KERNEL.scatterSlicesF32);
  if (call === null) return null;
  const pieces = listPieces();
  const { inverse, rows } = call;
  const idsPerRow = u32[call.idsPerRow]!;
  const width = Math.max(0, ...pieces.map(({ offset, floats }) => offset + floats));
  const inQuads = pieces.every(({ offset, floats }) => offset % 4 === 0 && floats % 4 === 0);
  return {
    kernel: 'segmentSumSlicesF32',
    source: { kind: 'slices', inverse, idsPerRow, rows, pieces },
    entriesPerId: pieces.reduce((sum, { ids }) => sum + ids, 0) / idsPerRow,
    sums: call.sums,
    sumsStride: call.sumsStride,
    operands: [
      'sorted',
      'segments',
      { word: 'pieces' },
      { constant: pieces.length },
      { word: 'sums' },
      { word: 'sumsStride' },
      { constant: width },
      { constant: inQuads ? 1 : 0 },
      { word: 'rows' },
      { constant: Math.max(0, ...pieces.map(({ ids }) => ids)) },
    ],
    sortOnly: new Set(['inverse']),
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
