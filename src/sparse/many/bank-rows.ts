/**
 * @file Rows of training steps in memories outside of the session: one for each owner, with a thread of its own.
 *
 * What a parameter server does, within one process: the session's memory has only the rows of the batches in flight,
 * tables may be larger than it, and the threads of the session compute while rows are looked up and stepped.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { rateAt } from '../../base/rates/rate.js';
import { misfit } from '../../graph/graph.js';
import { ServiceThread } from '../../runtime/pool/service-thread.js';
import type { RowLease, RowStore } from '../../runtime/session/row-store.js';
import { TableMemory } from '../../runtime/tables/table-memory.js';
import type { TableConfig } from '../config/table-config.js';
import { planTable } from '../config/table-plan.js';
import { HashTable } from '../table/hash-table.js';
import type { TableOptions } from '../table/table-options.js';
import type { AskedRows, BankRowsService, GivenGradients, SharedArray } from './bank-rows-service.js';

export interface BankRowsOptions extends Pick<TableOptions, 'seed' | 'badGradients' | 'whenFull'> {
  /** Memories that rows are spread over, by the floorMod of their id. Default: 1. */
  readonly owners?: number;
  /** Bytes that the tables of one owner may take. Default: 1 GiB. */
  readonly budgetBytes?: number;
}

interface Owner {
  readonly tables: readonly HashTable[];
  readonly thread: ServiceThread<BankRowsService>;
}

/** The service as this thread calls it. */
type Remote = Parameters<Parameters<ServiceThread<BankRowsService>['call']>[0]>[0];

/**
 * Keeps the rows of `tables` outside of the session that has it as `rows`; `close` it after the session.
 *
 * ```ts
 * const rows = await BankRows.create([users, items], { owners: 2 });
 * const session = await Session.create(graph, { schema, batchSize, rows, prefetch: 1, postpush: true });
 * ```
 */
export class BankRows implements RowStore {
  readonly #configs: readonly TableConfig[];
  readonly #owners: readonly Owner[];

  private constructor(configs: readonly TableConfig[], owners: readonly Owner[]) {
    this.#configs = configs;
    this.#owners = owners;
  }

  /** Empty tables, at every owner. `seed` is that of the session, where first values are to be the same. */
  static async create(tables: readonly TableConfig[], options: BankRowsOptions = {}): Promise<BankRows> {
    const given = checkOptions('BankRows.create', options, [
      'owners',
      'budgetBytes',
      'seed',
      'badGradients',
      'whenFull',
    ]);
    const { owners: count = 1, budgetBytes = 2 ** 30, badGradients = 'skip', ...rest } = given;
    if (!Number.isInteger(count) || count < 1) {
      throw new MonolithError('ML_FLAG', { flag: 'owners', reason: `${String(count)} is no number of owners` });
    }
    const filtered = tables.find(({ admission }) => admission !== undefined);
    if (filtered !== undefined) throw misfit(filtered.name, 'its rows are admitted by a filter of the session');
    const owners: Owner[] = [];
    for (let owner = 0; owner < count; owner++) {
      const memory = await TableMemory.create({ budgetBytes });
      const made = tables.map((config) => HashTable.create(memory, config, { badGradients, ...rest }));
      const thread = new ServiceThread<BankRowsService>({
        name: `rows ${owner}`,
        entry: new URL('../../../workers/bank-rows.js', import.meta.url),
        workerData: made.map(({ handle }) => handle),
      });
      owners.push({ tables: made, thread });
    }
    return new BankRows(tables, owners);
  }

  get owners(): number {
    return this.#owners.length;
  }

  /** The tables of an owner, in the order they were given: to be saved and looked at while no step is under way. */
  tables(owner: number): readonly HashTable[] {
    const found = this.#owners[owner];
    if (found !== undefined) return found.tables;
    throw new MonolithError('ML_FLAG', { flag: 'owner', reason: `${owner} is not one of ${this.#owners.length}` });
  }

  async pull(lease: RowLease, deadline: number): Promise<void> {
    const packed = await lease.packIds();
    await this.#each(deadline, (service, owner) =>
      service.lookup(
        packed[owner]!.ids.buffer,
        packed[owner]!.tables.map(({ name, ids, rows }): AskedRows => {
          return { table: this.#tableOf(name), ids: placeOf(ids), rows: placeOf(rows) };
        }),
      ),
    );
    await lease.unpackRows();
  }

  async push(lease: RowLease, deadline: number): Promise<void> {
    const packed = await lease.packGradients();
    const times = new Map(lease.tables.map(({ name, requestTime }) => [name, requestTime]));
    await this.#each(deadline, (service, owner) =>
      service.optimize(
        packed[owner]!.ids.buffer,
        packed[owner]!.tables.map(({ name, ids, trained, gradients }): GivenGradients => {
          const table = this.#tableOf(name);
          const { segments } = planTable(this.#configs[table]!);
          // Rates that are functions of the step are known to this thread only.
          const learningRates = segments.map(({ rate }) => rateAt(rate, lease.step));
          const update = { learningRates, globalStep: lease.step, timeSec: times.get(name) };
          return { table, ids: { ...placeOf(ids), length: trained }, gradients: placeOf(gradients), ...update };
        }),
      ),
    );
  }

  #tableOf(name: string): number {
    const index = this.#configs.findIndex((config) => config.name === name);
    if (index < 0) throw misfit(name, 'BankRows was made without this table');
    return index;
  }

  async #each(deadline: number, call: (service: Remote, owner: number) => Promise<void>): Promise<void> {
    const left = Math.max(1, deadline - performance.now());
    await Promise.all(this.#owners.map(({ thread }, owner) => thread.call((service) => call(service, owner), left)));
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await Promise.all(this.#owners.map(({ thread }) => thread.close()));
  }
}

function placeOf({ byteOffset, length }: BigInt64Array | Float32Array): SharedArray {
  return { byteOffset, length };
}
