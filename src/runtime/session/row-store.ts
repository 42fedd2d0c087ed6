/**
 * @file Where the rows of a cut step come from and where its gradients go.
 *
 * A step that is cut hands a lease out: blocks of shared memory with the unique ids of a batch by owner, room for their
 * rows, and later a gradient for each. Who has the rows fills the block; nothing is copied through messages.
 */
import type { LeasedTable } from '../compile/leased-table.js';
import type { PackedPart } from './packed-part.js';

export type { LeasedPart, LeasedTable } from '../compile/leased-table.js';
export type { PackedPart, PackedTable } from './packed-part.js';

/** Brings rows and takes gradients. Calls for one lease come in this order, those for different leases may overlap. */
export interface RowStore {
  /** How many have the rows, at most 1024: an id belongs to the one of its floorMod by their number. Default: 1. */
  readonly owners?: number;
  /** Fills the rows of the lease; by `deadline`, a time of `performance.now()`, it is given up. */
  pull(lease: RowLease, deadline: number): void | Promise<void>;
  /** Takes the gradients of the lease. */
  push(lease: RowLease, deadline: number): void | Promise<void>;
}

/** The blocks of one batch in flight. */
export interface RowLease {
  /** Which of the leases of the session: a small number that comes again and again. */
  readonly index: number;
  /** The global step that the batch is trained on at, before that step counts: rates of its updates are those of it. */
  readonly step: number;
  readonly tables: readonly LeasedTable[];
  /** Packs the ids of all tables for each owner, with room for their rows: for a store that sends them. */
  packIds(): Promise<readonly PackedPart[]>;
  /** Brings the rows that were put into that room to their tables. */
  unpackRows(): Promise<void>;
  /** Packs the gradients of all tables for each owner. */
  packGradients(): Promise<readonly PackedPart[]>;
  /** Has the threads of the session fill the rows from its own tables. */
  pullHere(): Promise<void>;
  /** Has them step the rows of its own tables by the gradients. */
  pushHere(): Promise<void>;
}

/** The tables of the session itself, wherever in its memories they are. */
export class LocalRows implements RowStore {
  // Sessions know it: they have their threads do the parts of a step one after the other, and call nobody in between.
  pull(lease: RowLease): Promise<void> {
    return lease.pullHere();
  }

  push(lease: RowLease): Promise<void> {
    return lease.pushHere();
  }
}
