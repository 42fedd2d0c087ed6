/**
 * @file Runs the operations that parity files list for one table: records such as `{ "op": "lookup", "ids": [5] }` and
 * sentences such as `write id 0 += 1`.
 */

import type { HashFilter } from '../../src/sparse/admission/hash-filter.js';
import type { HashTableConfigInstance } from '../../src/sparse/config/table-config.js';
import type { HashTable } from '../../src/sparse/table/hash-table.js';
import { type Fields, fieldsOf, isRecord, UnknownForm } from './case.js';
import { entryRecords, restoreBoth, saveBoth } from './table-files.js';
import { type CaseTables, floatsOf, rowsOf } from './tables.js';
import { ids } from './values.js';

export interface RunOptions {
  readonly filter?: HashFilter;
  /** Where saves go. */
  readonly dir: string;
  /** What every update says unless its operation says otherwise. */
  readonly timeSec?: number;
  readonly globalStep?: number;
  readonly enableDedup?: boolean;
}

/** `{ lookup: [5] }` and `{ assign: { ids, values } }`: an operation as the name of what it is given. */
function namedOp(given: unknown): unknown {
  const [[op, said] = [], ...more] = Object.entries(given as Fields);
  if (more.length > 0 || op === undefined || op === 'op') return given;
  return isRecord(said) ? { op, ...said } : { op, ids: said };
}

export class TableRun {
  table: HashTable;
  /** Records of the last save. */
  saved: readonly Uint8Array[] = [];
  readonly #tables: CaseTables;
  readonly #config: HashTableConfigInstance;
  readonly #options: RunOptions;
  #filter: HashFilter | undefined;
  #lastId: unknown;
  #lastAmount = 0;

  constructor(tables: CaseTables, config: HashTableConfigInstance, options: RunOptions) {
    this.#tables = tables;
    this.#config = config;
    this.#options = options;
    this.#filter = options.filter;
    this.table = this.#make();
  }

  #make(): HashTable {
    return this.#tables.table(this.#config, this.#filter === undefined ? {} : { filter: this.#filter });
  }

  get #base(): string {
    return `${this.#options.dir}/table`;
  }

  /** Results of the operations that have one, in order. */
  async all(ops: readonly unknown[]): Promise<unknown[]> {
    const results: unknown[] = [];
    for (const op of ops) {
      const result = await this.run(op);
      if (result !== undefined) results.push(result);
    }
    return results;
  }

  async run(op: unknown): Promise<unknown> {
    return typeof op === 'string' ? this.#sentence(op) : this.#record(op);
  }

  rows(given: unknown): number[][] {
    return rowsOf(this.table.lookup(ids(given)), this.table.dim);
  }

  /** Gradients of positions in order; through the call for one id when `single`. */
  optimize(given: unknown, grads: unknown, said: Fields = {}): void {
    const all = ids(given);
    const options = {
      timeSec: (said.time as number | undefined) ?? this.#options.timeSec ?? 0,
      globalStep: (said.global_step as number | undefined) ?? this.#options.globalStep ?? 0,
      enableDedup: (said.enable_dedup as boolean | undefined) ?? this.#options.enableDedup ?? false,
      ...(said.learning_rates === undefined ? {} : { learningRates: said.learning_rates as number[] }),
    };
    const flat = Float32Array.from(this.#flat(grads, all.length));
    if (said.single === true) this.table.optimizeOne(all[0]!, flat, options);
    else this.table.optimize(all, flat, options);
  }

  assign(given: unknown, values: unknown, { add = false, time }: { add?: boolean; time?: unknown } = {}): void {
    const all = ids(given);
    const flat = Float32Array.from(this.#flat(values, all.length));
    const options = { timeSec: (time as number | undefined) ?? this.#options.timeSec ?? 0 };
    if (add) this.table.assignAdd(all, flat, options);
    else this.table.assign(all, flat, options);
  }

  #flat(given: unknown, count: number): number[] {
    const everywhere = /^(-?[\d.]+) everywhere$/.exec(String(given));
    if (everywhere !== null) return new Array<number>(count * this.table.dim).fill(Number(everywhere[1]));
    if (!Array.isArray(given)) return floatsOf(given, count * this.table.dim);
    return given.flatMap((row) => floatsOf(row, Array.isArray(row) ? row.length : 1));
  }

  async #record(given: unknown): Promise<unknown> {
    const optional = ['id', 'ids', 'value', 'values', 'grad', 'grads', 'time', 'shard', 'global_step', 'enable_dedup'];
    const op = fieldsOf(namedOp(given), ['op'], [...optional, 'learning_rates', 'now']);
    const which = op.ids ?? (op.id === undefined ? undefined : [op.id]);
    switch (op.op) {
      case 'lookup':
      case 'batch_lookup':
        return this.rows(which);
      case 'assign':
      case 'assign_add':
        this.assign(which, op.values ?? op.value, { add: op.op === 'assign_add', time: op.time });
        return undefined;
      case 'optimize':
      case 'batch_optimize':
      case 'apply_gradients':
        this.optimize(which, op.grads ?? op.grad, { ...op, single: op.ids === undefined });
        return undefined;
      case 'lookup_entry':
      case 'lookup_entry_hex':
        return this.table.lookupEntry(ids(which)).map((entry) => Buffer.from(entry).toString('hex'));
      case 'contains':
        return [...this.table.contains(ids(which))].map((found) => found === 1);
      case 'reinitialize':
        return [...this.table.reinitialize(ids(which))];
      case 'evict':
        this.table.evict((op.now ?? op.time) as number);
        return undefined;
      case 'summary':
        return JSON.parse(this.table.summary());
      case 'size':
        return this.table.size;
      case 'clear':
        this.table.clear();
        return undefined;
      case 'save':
        await this.#save(op.shard);
        return undefined;
      case 'restore':
      case 'restore_into_new':
        await this.#restore({ anew: op.op === 'restore_into_new' });
        return undefined;
      default:
        throw new UnknownForm(`operation ${op.op}`);
    }
  }

  async #sentence(text: string): Promise<unknown> {
    const write = /^write id (-?\d+) \+= (-?[\d.]+)$/.exec(text);
    const add = /^add(?:\(id (-?\d+), ?\+?(-?[\d.]+)\))?$/.exec(text);
    if (write !== null) this.assign([write[1]], [Number(write[2])], { add: true });
    else if (add !== null) {
      // Without a target it is the same again.
      if (add[1] !== undefined) [this.#lastId, this.#lastAmount] = [add[1], Number(add[2])];
      if (this.#lastId === undefined) throw new UnknownForm(text);
      this.assign([this.#lastId], [this.#lastAmount], { add: true });
    } else if (text === 'save' || text === 'save both') await this.#save(undefined);
    else if (text === 'restore' || text === 'restore both') await this.#restore({ anew: false });
    else throw new UnknownForm(text);
    return undefined;
  }

  /** The last target of a sentence. */
  get lastId(): unknown {
    return this.#lastId;
  }

  async #save(shard: unknown): Promise<void> {
    const nshards = shard === undefined ? undefined : (shard as [number, number])[1];
    const files = await saveBoth(this.table, this.#filter, this.#base, nshards);
    this.saved = entryRecords(files);
  }

  async #restore({ anew }: { anew: boolean }): Promise<void> {
    if (anew) this.table = this.#make();
    await restoreBoth(this.table, this.#filter, this.#base);
  }
}
