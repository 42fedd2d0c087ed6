/**
 * @file What each row optimizer leaves in a dump: SingleOptimizerDump of optimizer.proto, as a table.
 *
 * The numbers are those of the dump; the config message numbers some optimizers differently. `parts` are in field
 * order; where the same values are in a row's state, which has its own order, `block` and `scalar` say: blocks of equal
 * length first, single words after them. A new optimizer is one entry here and nothing else.
 */
export type DumpPart = {
  /** Field number inside the optimizer's dump message. */
  readonly field: number;
  readonly name: string;
} & (
  | {
      readonly kind: 'floats';
      /** Index of this part among the equally long blocks of the segment's state. */
      readonly stateBlock: number;
    }
  | { readonly kind: 'float'; readonly scalar: number }
  /** A number of 64 bits in two words of the state, low word first. */
  | { readonly kind: 'int64'; readonly scalar: number }
  /** Written as 0 and not kept: upstream has the field and no published rule that reads it. */
  | { readonly kind: 'unused' }
);

export interface OptimizerDumpShape {
  /** Field number in SingleOptimizerDump; null for an optimizer that leaves no dump. */
  readonly field: number | null;
  readonly parts: readonly DumpPart[];
  /** Blocks of state, each as long as the segment. */
  readonly blocks: number;
  /** Single words of state after the blocks. */
  readonly scalars: number;
}

const floats = (field: number, name: string, stateBlock: number): DumpPart => ({
  field,
  name,
  kind: 'floats',
  stateBlock,
});
const float = (field: number, name: string, scalar: number): DumpPart => ({ field, name, kind: 'float', scalar });

function shape(field: number | null, blocks: number, scalars: number, ...parts: DumpPart[]): OptimizerDumpShape {
  return { field, parts, blocks, scalars };
}

export const OPTIMIZER_DUMPS = {
  adagrad: shape(1, 1, 0, floats(1, 'norm', 0)),
  sgd: shape(2, 0, 0),
  ftrl: shape(3, 2, 0, floats(1, 'zero', 1), floats(2, 'norm', 0)),
  dynamicWdAdagrad: shape(4, 1, 0, floats(1, 'norm', 0), { field: 2, name: 'last_update_step', kind: 'unused' }),
  adadelta: shape(6, 2, 0, floats(1, 'accum', 0), floats(2, 'accum_update', 1)),
  adam: shape(7, 2, 2, floats(1, 'm', 0), floats(2, 'v', 1), float(3, 'beta1_power', 0), float(4, 'beta2_power', 1)),
  amsgrad: shape(
    8,
    3,
    2,
    floats(1, 'm', 0),
    floats(2, 'v', 1),
    floats(3, 'vhat', 2),
    float(4, 'beta1_power', 0),
    float(5, 'beta2_power', 1),
  ),
  momentum: shape(9, 1, 0, floats(1, 'n', 0)),
  movingAverage: shape(null, 0, 0),
  rmsprop: shape(11, 1, 0, floats(1, 'n', 0)),
  rmspropv2: shape(12, 1, 0, floats(1, 'n', 0)),
  groupFtrl: shape(13, 2, 0, floats(1, 'zero', 1), floats(2, 'norm', 0)),
  batchSoftmax: shape(14, 0, 2, { field: 1, name: 'global_step', kind: 'int64', scalar: 0 }),
  groupAdagrad: shape(15, 0, 1, float(1, 'grad_square_sum', 0)),
} as const satisfies Record<string, OptimizerDumpShape>;

export type DumpedOptimizer = keyof typeof OPTIMIZER_DUMPS;

/** One slice of a row with its own optimizer. */
export interface DumpSegment {
  readonly dim: number;
  readonly optimizer: DumpedOptimizer;
  /** Length of each state block; `dim` unless the optimizer compresses its state. */
  readonly stateDim?: number;
}

export function dumpShapeOf(segment: DumpSegment): OptimizerDumpShape {
  return OPTIMIZER_DUMPS[segment.optimizer];
}

/** Words of state one segment keeps per row. */
export function segmentStateCount(segment: DumpSegment): number {
  const { blocks, scalars } = dumpShapeOf(segment);
  return blocks * (segment.stateDim ?? segment.dim) + scalars;
}

/** Words of state the segments keep per row. */
export function stateCountOf(segments: readonly DumpSegment[]): number {
  return segments.reduce((sum, segment) => sum + segmentStateCount(segment), 0);
}

export function weightCountOf(segments: readonly DumpSegment[]): number {
  return segments.reduce((sum, s) => sum + s.dim, 0);
}

/** Where in the segment's state a part of floats begins, and how many it has. */
export function floatsOf(segment: DumpSegment, part: DumpPart): { at: number; count: number } | null {
  const count = segment.stateDim ?? segment.dim;
  if (part.kind === 'floats') return { at: part.stateBlock * count, count };
  if (part.kind === 'float') return { at: dumpShapeOf(segment).blocks * count + part.scalar, count: 1 };
  return null;
}

/** Where in the segment's state the low word of a 64-bit part is. */
export function wordOf(segment: DumpSegment, scalar: number): number {
  return dumpShapeOf(segment).blocks * (segment.stateDim ?? segment.dim) + scalar;
}
