/**
 * @file An embedding hash table over one or several banks of shared memory, as one thread holds it.
 *
 * Mirrors runtime/hash_table and the ops of native_training/hash_table_ops. The calls here may run on any thread at any
 * time, each thread with an object of its own (`attach`): every id takes the lock of its partition for its turn.
 * Training steps of a session go through embedding-ops.ts instead, whose kernels own their partitions and take no
 * locks; between steps, not during them, these calls may be used on a session's tables too.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { Floats, Ids } from '../../memory/given-arrays.js';
import type { CompileEnvironment } from '../../runtime/compile/compile-environment.js';
import { coreOf, type SessionHandle } from '../../runtime/session/session-handle.js';
import { TableMemory } from '../../runtime/tables/table-memory.js';
import { HashTableConfigInstance, type TableConfig } from '../config/table-config.js';
import { planTable } from '../config/table-plan.js';
import type { EmbeddingTable, OptimizeOptions, UpdateOptions } from './embedding-table.js';
import { type HeldParts, HeldTable } from './held-table.js';
import { zeroRuns } from './linalg.js';
import { sessionTableOptions } from './session-table-options.js';
import { sumGradients } from './sum-gradients.js';
import { checkNow, checkTime, checkUpdate, type GradientRows, idList, rowList } from './table-checks.js';
import { noteRemovals, raiseUpdateTime, ratesOf, setRatesOf, stepWordsOf } from './table-control.js';
import { freeTables, makeTables } from './table-making.js';
import type { AttachOptions, HashTableHandle, TableOptions } from './table-options.js';
import { clearTables, evictTables, expireDays } from './table-removal.js';
import { TableResidence } from './table-residence.js';
import { EntryReader, restorePart, rowChunks, sortedRows, type TableRowView } from './table-rows.js';
import { summarize } from './table-summary.js';
import { TableUpdates } from './table-updates.js';
import { type GateOptions, UpdateGate } from './update-gate.js';

export type { AttachOptions, HashTableHandle, TableOptions } from './table-options.js';
export type { TableRowView } from './table-rows.js';

/** What an object is made with; the public ways are `of`, `create` and `attach`. */
type TableParts = HeldParts & { readonly options: TableOptions };

/**
 * An embedding table: rows by 64-bit id, looked up, stepped, evicted, from any thread.
 *
 * ```ts
 * const memory = await TableMemory.create({ budgetBytes: 64 << 20 });
 * const table = HashTable.create(memory, defineTable('users', [{ dim: 2, optimizer: SgdOptimizer() }]));
 * table.assign(BigInt64Array.of(7n), Float32Array.of(1, 2));
 * table.lookup(BigInt64Array.of(7n, 8n)); // 1, 2, 0, 0
 * ```
 */
export class HashTable extends HeldTable implements EmbeddingTable {
  readonly #updates: TableUpdates;
  readonly #gate: UpdateGate;
  /** What updates pass; steps follow it too. */
  readonly gate: GateOptions;
  readonly #nowSec: () => number;

  private constructor({ options, ...held }: TableParts) {
    super(held);
    this.#updates = new TableUpdates(this.name, this.plan, this.grip);
    this.gate = options;
    this.#gate = new UpdateGate((ids) => this.contains(ids), options);
    this.#nowSec = options.nowSec ?? (() => Math.floor(Date.now() / 1000));
  }

  /**
   * The table of `config` in this session, made on first use; options count only then. Steps skip and count gradients
   * that are not finite unless told to fail: a failed step ends the session, and that the loss went wrong is told by
   * whoever looks at it, as NanTensorHook does.
   */
  static of(session: SessionHandle | CompileEnvironment, config: TableConfig, options: TableOptions = {}): HashTable {
    checkOptions('HashTable.of', options, ['filter', 'touchedKeys', 'seed', 'badGradients', 'whenFull', 'nowSec']);
    const owner = coreOf(session);
    return owner.resource(config, () => {
      const table = HashTable.create(owner.tables, config, sessionTableOptions(owner, config, options));
      const { tables: homes } = owner.backend;
      if (homes !== undefined) table.residence = new TableResidence(homes, table.name, table.plan, table.tables[0]!);
      if (table.plan.followsStep) {
        const follow = (step: number, isCounted: boolean) => table.setGlobalStep(step, undefined, isCounted);
        owner.onStep(follow, () => stepWordsOf(table.tables, table.sliceSize));
      }
      return table;
    });
  }

  /** An empty table. ML_TABLE_NAME when the memory has one of that name. */
  static create(memory: TableMemory, config: TableConfig, options: TableOptions = {}): HashTable {
    checkOptions('HashTable.create', options, ['filter', 'touchedKeys', 'seed', 'badGradients', 'whenFull', 'nowSec']);
    const tables = makeTables(memory, config, options);
    try {
      const addresses = tables.map(({ address }) => address);
      const rates = planTable(config).segments.map(({ rate }) => rate);
      const table = new HashTable({ memory, config, addresses, rates, options });
      table.setGlobalStep(0);
      return table;
    } catch (cause) {
      freeTables(memory, config, tables);
      throw cause;
    }
  }

  get handle(): HashTableHandle {
    this.residence?.refuseHandle();
    return {
      memory: this.memory.handle,
      addresses: this.addresses,
      name: this.name,
      tableConfig: this.config.instance.tableConfig,
      rates: this.rates.map((rate) => (typeof rate === 'number' ? rate : null)),
    };
  }

  /** The table another thread made. `memory` is for threads that hold several tables of one memory. */
  static attach(handle: HashTableHandle, options: AttachOptions = {}): HashTable {
    checkOptions('HashTable.attach', options, ['filter', 'touchedKeys', 'nowSec', 'memory']);
    const { name, tableConfig, rates, addresses } = handle;
    const numbers = rates.map((rate) => rate ?? 0);
    const instance = new HashTableConfigInstance(tableConfig, numbers);
    const memory = options.memory ?? TableMemory.attach(handle.memory);
    return new HashTable({ memory, config: { name, instance }, addresses, rates, options });
  }

  contains(ids: Ids): Uint8Array {
    this.bringHome();
    const list = idList(this.name, ids);
    const out = new Uint8Array(list.length);
    this.grip.each(list, (part) => {
      part.bank.kernels.tableContains(part.address, part.ids, part.count, part.bytes);
      part.takeBytes(out);
    });
    return out;
  }

  lookup(ids: Ids, given?: Float32Array): Float32Array {
    this.bringHome();
    const list = idList(this.name, ids);
    const out = given ?? new Float32Array(list.length * this.dim);
    if (!(out instanceof Float32Array) || out.length !== list.length * this.dim) {
      const { length = 0 } = out as Partial<Float32Array>;
      const found = list.length === 0 ? length : length / list.length;
      throw new MonolithError('ML_TABLE_LOOKUP_DIM', { found, expected: this.dim, name: this.name });
    }
    this.grip.each(list, (part) => {
      part.bank.kernels.tableLookup(part.address, part.ids, part.count, part.floats, this.dim);
      part.takeRows(out);
    });
    return out;
  }

  lookupEntry(ids: Ids): Uint8Array[] {
    this.refuseServing('Save');
    this.bringHome();
    const entries: Uint8Array[] = [];
    const reader = new EntryReader(this.plan);
    this.grip.each(idList(this.name, ids), (part) => reader.read(part, entries));
    return entries;
  }

  assign(ids: Ids, rows: Floats, options: UpdateOptions = {}): void {
    const list = idList(this.name, ids);
    const values = rowList(this.name, this.dim, list, rows);
    if (this.config.instance.tableConfig.skipZeroEmbedding !== true) {
      this.#assign(list, values, options, false);
      return;
    }
    this.#time(options);
    // One run of rows after the other: an id may come with zeros, then with values, then with zeros again.
    for (const { zeros, from, end } of zeroRuns(values, this.dim)) {
      const run = list.subarray(from, end);
      if (zeros) this.remove(run);
      else this.#assign(run, values.subarray(from * this.dim, end * this.dim), options, false);
    }
  }

  assignAdd(ids: Ids, values: Floats, options: UpdateOptions = {}): void {
    const list = idList(this.name, ids);
    this.#assign(list, rowList(this.name, this.dim, list, values), options, true);
  }

  #assign(ids: BigInt64Array, values: Float32Array, options: UpdateOptions, add: boolean): void {
    checkUpdate('HashTable.assign', options);
    this.changed();
    const timeSec = this.#time(options);
    this.#updates.assign(ids, values, timeSec, this.#gate.admit(ids), add);
  }

  optimize(ids: Ids, rows: Floats, options: OptimizeOptions = {}): void {
    checkUpdate('HashTable.optimize', options);
    const list = idList(this.name, ids);
    this.refuseServing('Optimize');
    const gradients = rowList(this.name, this.dim, list, rows);
    if (options.enableDedup === true) {
      const sums = sumGradients(list, gradients, this.dim);
      const admitted = this.#gate.admit(sums.ids, sums.counts);
      this.#step(sums, options, admitted);
    } else this.#step({ ids: list, gradients }, options, this.#gate.admit(list));
  }

  /** Steps one id, whatever the filter says. */
  optimizeOne(id: bigint, gradient: Floats, options: OptimizeOptions = {}): void {
    checkUpdate('HashTable.optimizeOne', options);
    const ids = idList(this.name, id);
    this.refuseServing('Optimize');
    this.#step({ ids, gradients: rowList(this.name, this.dim, ids, gradient) }, options, null);
  }

  #step(rows: GradientRows, options: OptimizeOptions, admitted: Uint8Array | null): void {
    this.changed();
    const timeSec = this.#time(options);
    const { globalStep = 0, learningRates } = options;
    // Rates of a call are for that call alone: steps of a session go on with the table's.
    const before = learningRates === undefined ? [] : ratesOf(this.tables[0]!, this.sliceSize);
    this.setGlobalStep(globalStep, learningRates, options.globalStep !== undefined);
    try {
      this.#updates.step(rows, timeSec, globalStep, admitted, this.#gate.touch);
    } finally {
      setRatesOf(this.tables, before);
    }
  }

  reinitialize(ids: Ids): Int32Array {
    this.changed();
    const list = idList(this.name, ids);
    return this.#updates.reinitialize(list, this.#nowSec(), this.#gate.touch);
  }

  /** Removes rows; returns how many there were. */
  remove(ids: Ids): number {
    this.changed();
    let removed = 0;
    this.grip.each(idList(this.name, ids), ({ bank, address, count, ids: at }) => {
      removed += bank.kernels.tableRemove(address, at, count);
    });
    if (removed > 0) noteRemovals(this.tables);
    return removed;
  }

  evict(nowSec: number): number {
    this.changed();
    const days = expireDays(this.config.instance.tableConfig);
    return evictTables(this.name, this.memory, this.tables, days, checkNow(nowSec));
  }

  clear(): void {
    this.changed();
    clearTables(this.name, this.tables);
  }

  /** JSON with accessor, size, memory, memory_if_not_compressed and load_factor. */
  summary(): string {
    this.bringHome();
    return summarize(this.plan, this.tables);
  }

  /**
   * Every row, in the order of its id; no other thread may write meanwhile. The views stay good until rows are removed.
   */
  rows(): Generator<TableRowView> {
    this.refuseServing('Save');
    this.bringHome();
    return sortedRows(this.tables, this.plan);
  }

  /** Puts rows in, over what is there; no other thread may be at the table. A serving table keeps the weights alone. */
  restore(rows: Iterable<TableRowView>): void {
    this.changed();
    for (const chunk of rowChunks(this.name, this.plan, rows)) this.putRows(chunk);
  }

  protected override putRows(rows: readonly TableRowView[]): void {
    const latest = rows.reduce((most, row) => Math.max(most, row.lastUpdateSec), 0);
    for (const table of this.tables) raiseUpdateTime(table, latest);
    if (this.plan.serving) {
      for (const row of rows) this.assign(BigInt64Array.of(row.id), row.weights, { timeSec: row.lastUpdateSec });
      return;
    }
    const ids = BigInt64Array.from(rows, ({ id }) => id);
    this.grip.each(ids, (part) => {
      if (!restorePart(part, this.plan, rows)) throw this.#updates.full(part);
    });
  }

  /** Gives back this thread's scratch memory for all tables of this memory; it is taken again when needed. */
  release(): void {
    this.grip.release();
  }

  /** Gives back all memory and the name. No thread may use the table afterwards. */
  dispose(): void {
    this.memory.refuseDuringStep(this.name);
    const { tables } = this;
    this.grip.close(this.name);
    freeTables(this.memory, this.config, tables);
  }

  #time({ timeSec = 0 }: UpdateOptions): number {
    checkTime(timeSec);
    for (const table of this.tables) raiseUpdateTime(table, timeSec);
    return timeSec;
  }
}
