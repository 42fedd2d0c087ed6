/** @file Exports of assembly/program: steps of a compiled program. */
export interface ProgramKernels {
  /** 0, or a STATUS of memory/program-layout.ts. */
  runStep(context: number, batch: number, command: number, quiet: number): number;
  addCountI64(pointer: number, count: number): void;
  advanceGeneration(cell: number, table: number, cells: number): number;
}
