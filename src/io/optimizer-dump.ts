/**
 * @file What each row optimizer leaves in a dump: SingleOptimizerDump of optimizer.proto, as a table.
 *
 * The numbers are those of the dump; the config message numbers some optimizers differently. `parts` are in field
 * order, `stateBlock` is the place of the same values in a row's state, which has its own order. A new optimizer of
 * float state is one entry here and nothing else.
 */
export interface DumpPart {
  /** Field number inside the optimizer's dump message. */
  readonly field: number;
  readonly name: string;
  /** Index of this part among the equally long blocks of the segment's state. */
  readonly stateBlock: number;
}

export interface OptimizerDumpShape {
  /** Field number in SingleOptimizerDump. */
  readonly field: number;
  readonly parts: readonly DumpPart[];
}

export const OPTIMIZER_DUMPS = {
  adagrad: { field: 1, parts: [{ field: 1, name: 'norm', stateBlock: 0 }] },
  sgd: { field: 2, parts: [] },
  ftrl: {
    field: 3,
    parts: [
      { field: 1, name: 'zero', stateBlock: 1 },
      { field: 2, name: 'norm', stateBlock: 0 },
    ],
  },
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

/** Floats of state the segments keep per row. */
export function stateCountOf(segments: readonly DumpSegment[]): number {
  return segments.reduce((sum, s) => sum + dumpShapeOf(s).parts.length * (s.stateDim ?? s.dim), 0);
}

export function weightCountOf(segments: readonly DumpSegment[]): number {
  return segments.reduce((sum, s) => sum + s.dim, 0);
}
