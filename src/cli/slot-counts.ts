/** @file Rows of a table by slot, in memory that grows with the slots there are and not with those there could be. */
import { MonolithError } from '../base/errors.js';
import { checkLimit } from '../base/limits.js';

export interface SlotCount {
  readonly slot: number;
  readonly rows: number;
}

/** What all tables of a set of files count together: files may name any number of tables. */
export interface SlotBudget {
  counts: number;
  /** For the error. */
  readonly file: string;
}

export class SlotCounts {
  readonly #budget: SlotBudget;
  readonly #rows = new Map<number, { rows: number }>();
  #slot = -1;
  #last = { rows: 0 };

  constructor(budget: SlotBudget) {
    this.#budget = budget;
  }

  add(slot: number): void {
    if (slot !== this.#slot) this.#find(slot);
    this.#last.rows++;
  }

  largestFirst(): SlotCount[] {
    const counts = Array.from(this.#rows, ([slot, { rows }]) => ({ slot, rows }));
    return counts.sort((a, b) => b.rows - a.rows || a.slot - b.slot);
  }

  #find(slot: number): void {
    let found = this.#rows.get(slot);
    if (found === undefined) {
      checkLimit('slotCounts', ++this.#budget.counts, (reason) => {
        const fields = { file: this.#budget.file, field: 'slots', reason: `slots of all tables: ${reason}` };
        throw new MonolithError('ML_CKPT_CORRUPT', fields);
      });
      found = { rows: 0 };
      this.#rows.set(slot, found);
    }
    this.#slot = slot;
    this.#last = found;
  }
}
