/** @file Cases of workers that train in step. */
import { FirstN, ReduceMean, ReduceSum } from '../../../src/feature/model/combiners.js';
import type { HashTableConfigInstance } from '../../../src/sparse/config/table-config.js';
import { LocalAllToAll } from '../../../src/sparse/many/all-to-all.js';
import { DistributedMultiTypeHashTableMpi } from '../../../src/sparse/many/distributed-multi-type-hash-table-mpi.js';
import { MultiTypeHashTable } from '../../../src/sparse/many/multi-type-hash-table.js';
import { Tensor } from '../../../src/tensor/tensor.js';
import { type Fields, fieldsOf, type ParityCase, type ParityHandlers, UnknownForm } from '../case.js';
import { CaseTables, configOf, rowsOf } from '../tables.js';
import { f32, ids, ragged } from '../values.js';

/** Workers in step, each with its own part of the tables. */
function workersOf(count: number, tables: CaseTables, configs: Readonly<Record<string, HashTableConfigInstance>>) {
  const collective = new LocalAllToAll(count);
  return Array.from({ length: count }, (_, rank) => {
    const local = MultiTypeHashTable.fromConfigs(configs, (name, config) =>
      tables.table(config, { name: `${name} of ${rank}` }),
    );
    return new DistributedMultiTypeHashTableMpi(local, collective.worker(rank));
  });
}

type BySlot = Readonly<Record<string, unknown[]>>;

async function syncTable({ input, expected }: ParityCase) {
  const given = fieldsOf(input, ['workers', 'ids', 'grads'], ['lr', 'lr_fn', 'steps', 'global_step']);
  const count = given.workers as number;
  // One batch stands for all workers; a list has one for each.
  const perWorker = (value: unknown) =>
    Array.isArray(value) ? (value as BySlot[]) : new Array<BySlot>(count).fill(value as BySlot);
  const [asked, grads] = [perWorker(given.ids), perWorker(given.grads)];
  if (asked.length !== count || grads.length !== count) throw new UnknownForm('batches that are not one per worker');
  const dims: Record<string, number> = {};
  for (const batch of grads) {
    for (const [slot, rows] of Object.entries(batch)) {
      const first = rows[0] as unknown[] | undefined;
      if (first !== undefined) dims[slot] = first.length;
    }
  }
  const around = { lr: given.lr, lr_fn: given.lr_fn };
  const configs = Object.fromEntries(Object.entries(dims).map(([slot, dim]) => [slot, configOf({ dim }, around)]));
  const workers = workersOf(count, await CaseTables.create(), configs);
  const idsOf = (batch: BySlot) => Object.fromEntries(Object.entries(batch).map(([slot, which]) => [slot, ids(which)]));
  const look = () => Promise.all(workers.map((worker, w) => worker.lookup(idsOf(asked[w]!))));
  const rowsBySlot = (rows: Readonly<Record<string, Float32Array>>) =>
    Object.fromEntries(Object.entries(rows).map(([slot, flat]) => [slot, rowsOf(flat, dims[slot]!)]));
  const before = await look();
  let current = before;
  for (let step = 0; step < ((given.steps ?? 1) as number); step++) {
    const globalStep = ((given.global_step ?? 0) as number) + step;
    await Promise.all(
      workers.map((worker, w) => {
        const values = Object.entries(grads[w]!).map(([slot, rows]) => [slot, f32(rows).data.slice()]);
        return worker.applyGradients(current[w]!, Object.fromEntries(values), { globalStep });
      }),
    );
    current = await look();
  }
  const answer = (lookups: typeof before) => {
    const all = lookups.map(({ rows }) => rowsBySlot(rows));
    return Array.isArray((expected as Fields).lookup_after) ? all : all[0];
  };
  return { lookup_before: answer(before), lookup_after: answer(current) };
}

function combinerOf(text: unknown) {
  const first = /^first_n\((\d+)\)$/.exec(String(text));
  if (first !== null) return new FirstN(Number(first[1]));
  if (text === 'reduce_sum') return new ReduceSum();
  if (text === 'reduce_mean') return new ReduceMean();
  throw new UnknownForm(`combiner ${text}`);
}

/** Steps on a loss that is the sum of the combined embedding, so that every component of its gradient is 1. */
async function syncTraining({ input }: ParityCase) {
  const optional = ['workers', 'feature', 'rows', 'initializer', 'optimizer', 'loss', 'steps'];
  const given = fieldsOf(input, ['combiner', 'dim'], optional);
  if (given.loss !== undefined && given.loss !== 'sum of the combined embedding')
    throw new UnknownForm(`${given.loss}`);
  const dim = given.dim as number;
  const combiner = combinerOf(given.combiner);
  const key = ragged('int64', given.feature ?? given.rows);
  const config = configOf({ dim, init: given.initializer ?? 'zeros', opt: given.optimizer ?? 'sgd' });
  const workers = workersOf((given.workers ?? 1) as number, await CaseTables.create(), { feature: config });
  const all = ((key.values as Tensor<'int64'>).data ?? new BigInt64Array(0)) as BigInt64Array;
  const look = () => Promise.all(workers.map((worker) => worker.lookup({ feature: all })));
  const before: number[] = [];
  let combined = new Tensor('float32', [0], new Float32Array(0));
  for (let step = 0; step < ((given.steps ?? 1) as number); step++) {
    const lookups = await look();
    const embedding = new Tensor('float32', [all.length, dim], lookups[0]!.rows.feature!);
    combined = combiner.combine(key, embedding);
    before.push(combined.data[0]!);
    const ones = new Tensor('float32', combined.shape, new Float32Array(combined.size).fill(1));
    await Promise.all(
      workers.map((worker, w) => {
        const feature = combiner.gradient(key, ones).data.slice();
        return worker.applyGradients(lookups[w]!, { feature }, { globalStep: step });
      }),
    );
  }
  const rows = (await look())[0]!.rows.feature!;
  return {
    combined_component_before_each_step: before,
    final_row_component: rows[0],
    combined_shape: combined.shape,
    row_sums_of_ids: key.toArray().map((row) => row.reduce<number>((sum, id) => sum + Number(id), 0)),
  };
}

export const handlers: ParityHandlers = { sync_table: syncTable, sync_training: syncTraining };
