/** @file Cases of the ops over tables: gradients, filters, files, names, fused calls; and of iterating over a table. */
import { extractSlot } from '../../../src/sparse/config/extract-slot.js';
import { sharedName } from '../../../src/sparse/config/shared-name.js';
import { iterateTable } from '../../../src/sparse/files/iterate-table.js';
import { lookupGradient } from '../../../src/sparse/steps/lookup-gradient.js';
import {
  type Fields,
  fieldsOf,
  ORDINALS,
  orError,
  type ParityCase,
  type ParityForm,
  type ParityHandlers,
  runForm,
} from '../case.js';
import { dumpAll, inDirectory, restoreBoth } from '../table-files.js';
import { TableRun } from '../table-run.js';
import { CaseTables, configOf, entriesOf, rowsOf, TABLE_FIELDS } from '../tables.js';
import { f32, i64, ids } from '../values.js';
import { runFused } from './multi-tables.js';

const UPDATE = ['global_step', 'enable_dedup', 'time', 'filter'];

const FORMS: readonly ParityForm[] = [
  ['ops', operations],
  ['tables', fused],
  ['indices', pooledGradient],
  ['grads', gradients],
  ['entries', saved],
  ['writes', saved],
  ['gradients', saved],
  ['basename', missingFiles],
  ['name_suffix', names],
  ['entry_id', slots],
];

/** Which form a case has follows from its fields. */
function hashTableOps(parity: ParityCase): unknown {
  return runForm(FORMS, parity, ['table', 'ids', ...TABLE_FIELDS]);
}

/** A table ready to run, with the filter of the case. */
async function runOf(given: Fields, dir: string): Promise<TableRun> {
  const tables = await CaseTables.create({ filters: given.filter !== undefined });
  const filter = tables.filter(given.filter);
  return new TableRun(tables, configOf(given.table, given), {
    dir,
    ...(filter === undefined ? {} : { filter }),
    timeSec: (given.time ?? 0) as number,
    globalStep: (given.global_step ?? 0) as number,
    enableDedup: (given.enable_dedup ?? false) as boolean,
  });
}

/** Rows of the ids that an expectation names, by id. */
function lookupOf(run: TableRun, wanted: unknown): Record<string, number[]> {
  const which = Object.keys(wanted as Fields);
  const rows = run.rows(which);
  return Object.fromEntries(which.map((id, i) => [id, rows[i]!]));
}

async function operations({ input, expected }: ParityCase) {
  const given = fieldsOf(input, ['ops'], ['table', ...TABLE_FIELDS, ...UPDATE]);
  const wanted = expected as Fields;
  return inDirectory(async (dir) => {
    const run = await runOf(given, dir);
    const results: unknown[] = [];
    const values: unknown[] = [];
    for (const op of given.ops as unknown[]) {
      const result = await run.run(op);
      if (result !== undefined) results.push(result);
      if ('value_after_each_op' in wanted) values.push(run.rows([run.lastId])[0]![0]);
    }
    return {
      results,
      value_after_each_op: values,
      ...entriesFound(given.ops as Fields[], run, wanted),
      ...(wanted.lookup === undefined ? {} : { lookup: lookupOf(run, wanted.lookup) }),
    };
  });
}

/** Weights of the entries that were found, and single entries by ordinal. */
function entriesFound(ops: readonly Fields[], run: TableRun, wanted: Fields): Fields {
  const op = ops.find((one) => one.op === 'lookup_entry');
  if (op === undefined) return {};
  const which = ids(op.ids);
  const entries = run.table.lookupEntry(which);
  const present = which.filter((_, i) => entries[i]!.length > 0);
  const numbered = ORDINALS.flatMap((name, i) =>
    name in wanted ? [[name, Buffer.from(entries[i]!).toString('hex')] as const] : [],
  );
  return { nums: rowsOf(run.table.lookup(present), run.table.dim), ...Object.fromEntries(numbered) };
}

/** The same gradients once or several times. */
async function gradients({ input, expected }: ParityCase) {
  const given = fieldsOf(input, ['ids', 'grads'], ['table', 'repeat', ...TABLE_FIELDS, ...UPDATE]);
  return inDirectory(async (dir) => {
    const run = await runOf(given, dir);
    const distinct = [...new Set((given.ids as unknown[]).map(String))];
    const after = [];
    for (let time = 0; time < ((given.repeat ?? 1) as number); time++) {
      run.optimize(given.ids, given.grads);
      after.push(run.rows(distinct));
    }
    const { lookup } = expected as Fields;
    return { lookup_after_each: after, ...(lookup === undefined ? {} : { lookup: lookupOf(run, lookup) }) };
  });
}

/**
 * Entries written one way or another, saved, and restored into a new table; a second generation is made of the first.
 */
async function saved({ input, expected }: ParityCase) {
  const ways = ['entries', 'writes', 'gradients'];
  const given = fieldsOf(input, [], ['table', ...ways, ...TABLE_FIELDS, ...UPDATE]);
  const wanted = expected as Fields;
  return inDirectory(async (dir) => {
    const run = await runOf(given, dir);
    const written = write(run, given);
    const rows = wanted.restored ?? Object.values(wanted)[0];
    const found = () => (Array.isArray(rows) ? run.rows(written) : lookupOf(run, rows));
    const generation = async () => {
      await run.run('save');
      await run.run({ op: 'restore_into_new' });
      return found();
    };
    const restored = await generation();
    return 'second_generation_restored' in wanted
      ? { restored, second_generation_restored: await generation() }
      : { restored };
  });
}

/** Does the writes of a case; answers their ids in order. */
function write(run: TableRun, given: Fields): unknown[] {
  if (given.entries !== undefined && !Array.isArray(given.entries)) {
    const which = Object.keys(given.entries as Fields);
    run.assign(which, [...entriesOf(given.entries, run.table.dim).values]);
    return which;
  }
  const steps = (given.gradients as unknown[] | undefined)?.map((one) => fieldsOf(one, ['id', 'grad'], ['time']));
  for (const { id, grad, time } of steps ?? []) run.optimize([id], [grad], { time });
  const rows = ((given.writes ?? given.entries) as unknown[] | undefined)?.map((one) =>
    fieldsOf(one, ['id', 'value'], ['time']),
  );
  for (const { id, value, time } of rows ?? []) run.assign([id], [value], { add: given.writes !== undefined, time });
  return [...(steps ?? []), ...(rows ?? [])].map(({ id }) => id);
}

/** Messages go on with names of files, and begin with words of their own. */
async function missingFiles({ input, expected }: ParityCase) {
  const { basename } = fieldsOf(input, ['basename']);
  const table = (await CaseTables.create()).table(configOf({}));
  const { error } = expected as { error: string };
  return inDirectory(async (dir) => {
    try {
      await restoreBoth(table, undefined, `${dir}/${basename}`);
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      return { error: message.includes(error) ? error : message };
    }
    return { error: 'none' };
  });
}

async function names({ input }: ParityCase) {
  const { name_suffix, times } = fieldsOf(input, ['name_suffix', 'times']);
  const tables = await CaseTables.create();
  const make = () => tables.table(configOf({}), { name: sharedName('hashTable', String(name_suffix)) });
  return orError(() => {
    for (let time = 0; time < (times as number); time++) make();
    return {};
  });
}

async function slots({ input }: ParityCase) {
  const { entry_id, fid_v2 } = fieldsOf(input, ['entry_id', 'fid_v2']);
  const table = (await CaseTables.create()).table(configOf({}));
  table.assign(ids([entry_id]), new Float32Array(table.dim));
  const [entry] = dumpAll(table);
  return { slot: extractSlot(entry!, { fidV2: fid_v2 as boolean }) };
}

/** The gradient of a pooled lookup, for each id. */
function pooledGradient({ input }: ParityCase) {
  const given = fieldsOf(input, ['indices', 'ids', 'grads']);
  return orError(() => {
    const found = lookupGradient(i64(given.indices), i64(given.ids), f32(given.grads));
    return { ids: found.ids, grads: found.grads };
  });
}

async function fused({ input }: ParityCase) {
  const optional = ['grads', 'lr', 'global_step', 'time', 'enable_grad_accumulation'];
  const given = fieldsOf(input, ['tables', 'ids', 'fused_slot_size', 'num_of_shards'], optional);
  const tables = await CaseTables.create();
  const { lr } = given;
  const made = (given.tables as unknown[]).map((one, t) => {
    const { dim, rows } = fieldsOf(one, ['dim'], ['rows']);
    const table = tables.table(configOf({ dim }, { lr: Array.isArray(lr) ? lr[t] : lr }));
    const entries = entriesOf(rows ?? {}, table.dim);
    table.assign(entries.ids, entries.values);
    return table;
  });
  return runFused(made, given);
}

async function utils({ input }: ParityCase) {
  const { entries, limit, nshards } = fieldsOf(input, ['entries'], ['limit', 'nshards']);
  const table = (await CaseTables.create()).table(configOf({}));
  const count = entries as number;
  table.assign(
    BigInt64Array.from({ length: count }, (_, i) => BigInt(i)),
    new Float32Array(count * table.dim),
  );
  const options = { ...(limit === undefined ? {} : { limit: limit as number }), nshards: (nshards ?? 1) as number };
  const visited = [...iterateTable(table, options)].flat().map((entry) => Buffer.from(entry).toString('hex'));
  if (new Set(visited).size !== visited.length) throw new Error('an entry was handed out twice');
  return { visited: visited.length };
}

export const handlers: ParityHandlers = { hash_table_ops: hashTableOps, hash_table_utils: utils };
