/**
 * @file What stands before updates of a table: the admission filter; and behind them: the record of touched ids.
 *
 * An id that has a row never asks the filter. One that has none asks once per position, in order, until it is let in:
 * the rest of its positions find the row that its first admitted one makes.
 */
import type { AdmissionFilter } from '../admission/filter-memory.js';
import type { ChangedIds } from './table-updates.js';

/** Where touched ids go: a TouchedKeySet, or a set that also keeps the table they are of. */
export interface TouchRecorder {
  insert(ids: BigInt64Array, tableIndex: number): number;
}

export interface TouchedKeys {
  readonly set: TouchRecorder;
  readonly tableIndex: number;
}

export interface GateOptions {
  readonly filter?: AdmissionFilter;
  readonly touchedKeys?: TouchedKeys;
}

/** Whether ids may be kept out: a table then needs a row that takes their gradients. */
export function keepsIdsOut(filter: AdmissionFilter | undefined): boolean {
  return filter !== undefined && filter.type !== 'no_filter';
}

export class UpdateGate {
  readonly #filter: AdmissionFilter | undefined;
  /** Records the ids that an update changed; null where nobody wants to know. */
  readonly touch: ChangedIds | null;
  readonly #contains: (ids: BigInt64Array) => Uint8Array;

  constructor(contains: (ids: BigInt64Array) => Uint8Array, { filter, touchedKeys }: GateOptions) {
    this.#contains = contains;
    this.#filter = filter?.type === 'no_filter' ? undefined : filter;
    this.touch =
      touchedKeys === undefined
        ? null
        : (ids) => {
            touchedKeys.set.insert(BigInt64Array.from(ids), touchedKeys.tableIndex);
          };
  }

  /** A byte per position that is 0 where an id without a row stays out; null when all may pass. */
  admit(ids: BigInt64Array, counts?: Uint32Array): Uint8Array | null {
    if (this.#filter === undefined) return null;
    const admitted = this.#contains(ids);
    const waiting = new Map<bigint, number[]>();
    ids.forEach((id, position) => {
      if (admitted[position] !== 0) return;
      const positions = waiting.get(id);
      if (positions === undefined) waiting.set(id, [position]);
      else positions.push(position);
    });
    for (let turn = 0; waiting.size > 0; turn++) this.#ask(waiting, turn, counts, admitted);
    return admitted;
  }

  /** Asks for the position of this turn of every id that waits; those that are let in wait no more. */
  #ask(waiting: Map<bigint, number[]>, turn: number, counts: Uint32Array | undefined, admitted: Uint8Array): void {
    const ids = BigInt64Array.from(waiting.keys());
    const asked = [...waiting.values()].map((positions) => positions[turn]!);
    const present = new Uint8Array(ids.length);
    const kept = this.#filter!.shouldFilter({
      ids,
      present,
      ...(counts === undefined ? {} : { counts: Uint32Array.from(asked, (position) => counts[position]!) }),
    });
    ids.forEach((id, i) => {
      const positions = waiting.get(id)!;
      if (kept[i] === 0) for (const position of positions.slice(turn)) admitted[position] = 1;
      if (kept[i] === 0 || turn + 1 === positions.length) waiting.delete(id);
    });
  }
}
