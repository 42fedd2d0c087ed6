/** @file Exports of assembly/program: steps of a compiled program. */
export interface ProgramKernels {
  /** 0, or a STATUS of memory/program-layout.ts. */
  runStep(context: number, batch: number, command: number, quiet: number): number;
  addCountI64(pointer: number, count: number): void;
  sumI64(src: number, stride: number, rows: number, dst: number): void;
  maxI64(src: number, stride: number, rows: number, dst: number): void;
  addSlicesI64(counter: number, parts: number, sliceStride: number, slices: number): void;
  latestOfSlices(parts: number, sliceStride: number, slices: number): number;
  shareOf(count: number, share: number, shares: number): number;
  shareAt(base: number, count: number, share: number, shares: number, bytes: number): number;
  advanceGeneration(cell: number, table: number, cells: number): number;
}
