/** @file A batch on its way through the parts of a cut step. */
import type { Program } from '../compile/compiler.js';

/** A batch in flight. */
export interface Flight {
  /** The program that goes on with it. */
  program: Program;
  readonly batch: number;
  lease: number;
  /** Of each program that had to do with it. */
  readonly leases: Map<Program, number>;
  /** The global step it is trained on at. */
  step: number;
  /** Of a store: its rows are there. */
  readonly pulled?: Promise<void>;
}

/** Whether `program` can go on with what was read for a batch: it trains alike, and may fetch something else. */
export function goesOn(flight: Flight, program: Program): boolean {
  return flight.program === program || flight.program.leasedBatches!.key === program.leasedBatches!.key;
}
