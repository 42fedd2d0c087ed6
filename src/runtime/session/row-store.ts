/**
 * @file Where the rows of a cut step come from and where its gradients go.
 *
 * A step that is cut hands a lease out: blocks of shared memory with the unique ids of a batch, room for their rows,
 * and later their gradients. Who has the rows fills the block; nothing is copied through messages.
 */
import type { LeasedTable } from '../compile/leased-table.js';

export type { LeasedTable } from '../compile/leased-table.js';

/** Brings rows and takes gradients. Calls for one lease come in this order, those for different leases may overlap. */
export interface RowStore {
  /** Fills the rows of the lease; by `deadline`, a time of `performance.now()`, it is given up. */
  pull(lease: RowLease, deadline: number): Promise<void>;
  /** Takes the gradients of the lease. */
  push(lease: RowLease, deadline: number): Promise<void>;
}

/** The blocks of one batch in flight. */
export interface RowLease {
  /** Which of the leases of the session: a small number that comes again and again. */
  readonly index: number;
  readonly tables: readonly LeasedTable[];
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
