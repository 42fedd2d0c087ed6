/**
 * @file A record of the rows that a session's steps change, for whoever sends them elsewhere: one set of pairs of id
 * and table, in the memory of the session. A graph is told of it before its session makes tables.
 */
import { MonolithError } from '../../base/errors.js';
import type { Graph } from '../../graph/graph.js';
import type { SessionCore } from '../../runtime/session/session-core.js';
import { TouchedPairSet } from './touched-pair-set.js';
import type { TouchedKeys } from './update-gate.js';

const META = 'touched_rows';

interface Asked {
  /** Pairs the set has room for; 0: nobody asks for them. */
  capacity: number;
}

const askedOf = (graph: Graph): Asked => graph.getMeta<Asked>(META, () => ({ capacity: 0 }));

/**
 * Has sessions of the graph record which rows their steps change. What they changed is told once, so one asks: ML_SYNC
 * for a second.
 */
export function recordTouchedRows(graph: Graph, capacity: number): void {
  const asked = askedOf(graph);
  if (asked.capacity > 0) {
    const hint = 'a training has one DeltaHook or one ParameterSyncHook';
    throw new MonolithError('ML_SYNC', { what: 'a training', reason: 'another hook pushes them already' }, { hint });
  }
  asked.capacity = capacity;
}

/** The rows that steps of a session changed, by the names of their tables. */
export class SessionTouched {
  readonly #set: TouchedPairSet;
  readonly #names: string[] = [];
  #cleared = 0;

  constructor({ memory, kernels, arena }: SessionCore, capacity: number) {
    this.#set = new TouchedPairSet({ memory, kernels, arena, capacity, concurrencyLevel: 64 });
  }

  /** What a table is told. */
  keysOf(table: string): TouchedKeys {
    if (!this.#names.includes(table)) this.#names.push(table);
    return { set: this.#set, tableIndex: this.#names.indexOf(table) };
  }

  /**
   * Ids by table since the last call; null where the set was full in between and some are lost. Call it while no step
   * runs.
   */
  take(): Map<string, BigInt64Array> | null {
    const taken = this.#set.stealByTable();
    const whole = this.#set.clearCount === this.#cleared;
    this.#cleared = this.#set.clearCount;
    return whole ? new Map([...taken].map(([index, ids]) => [this.#names[index]!, ids])) : null;
  }
}

/** The record of a session; undefined where its graph was not told to have one. */
export function sessionTouched(owner: SessionCore): SessionTouched | undefined {
  const asked = askedOf(owner.graph);
  return asked.capacity === 0 ? undefined : owner.resource(asked, () => new SessionTouched(owner, asked.capacity));
}
