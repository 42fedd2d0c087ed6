/** @file Cases of one table below the ops: reads and writes, threads, saves by entry, eviction, zero rows. */
import type { HashTable } from '../../../src/sparse/table/hash-table.js';
import {
  type Fields,
  fieldsOf,
  type ParityCase,
  type ParityForm,
  type ParityHandlers,
  runForm,
  UnknownForm,
} from '../case.js';
import { parseConcurrent, runConcurrently } from '../concurrent.js';
import { parseExpression, parseForm, parseSpan } from '../expression.js';
import { dumpAll, dumpPages, entryRecords, inDirectory, restoreBoth, restoreInto, saveBoth } from '../table-files.js';
import { TableRun } from '../table-run.js';
import { CaseTables, configOf, entriesOf, TABLE_FIELDS } from '../tables.js';
import { ids } from '../values.js';

const FORMS: readonly ParityForm[] = [
  ['ops', operations],
  ['shard', resumedSave],
  ['shards', shardedSave],
  ['evict_at', eviction],
  ['assign', proseAssign],
  ['source', proseRestore],
  ['entries', stoppedSave],
];

/** Which form a case has follows from its fields. */
function hashTable(parity: ParityCase): unknown {
  return runForm(FORMS, parity, ['table', 'ids', ...TABLE_FIELDS]);
}

/** Operations in order, for each way of storing entries that the case names: all must answer the same. */
async function operations({ input, expected }: ParityCase) {
  const given = fieldsOf(input, ['table', 'ops'], ['entry_types', ...TABLE_FIELDS]);
  const storages = (given.entry_types ?? [undefined]) as (string | undefined)[];
  const answers = [];
  for (const storage of storages) {
    const table = storage === undefined ? (given.table as Fields) : { ...(given.table as Fields), storage };
    const tables = await CaseTables.create();
    answers.push(await inDirectory((dir) => runOperations(tables, table, given, expected as Fields, dir)));
  }
  for (const answer of answers) {
    if (JSON.stringify(answer) !== JSON.stringify(answers[0])) throw new Error('storage types answer differently');
  }
  return answers[0];
}

async function runOperations(tables: CaseTables, table: Fields, given: Fields, expected: Fields, dir: string) {
  const run = new TableRun(tables, configOf(table, given), { dir });
  if (typeof given.ops === 'string') {
    await runConcurrently(run.table, parseConcurrent(given.ops));
    return { lookup: checkedRule(run.table, expected.lookup, given.ops) };
  }
  const results = await run.all(given.ops as unknown[]);
  const dump = run.saved.map((record) => Buffer.from(record).toString('hex'));
  return { results, dump_hex_unordered: dump };
}

/** `id i -> 3*i`, for the ids of the operations: the rule itself when every row follows it. */
function checkedRule(table: HashTable, rule: unknown, ops: string): unknown {
  const [name, value] = parseForm(rule, /^id (\w+) -> (.+)$/) as [string, string];
  const expression = parseExpression(value);
  const touched = ids([...new Set(parseConcurrent(ops).flatMap((turn) => turn.map(({ id }) => String(id))))]);
  return checkRows(table, touched, (id) => expression({ [name]: Number(id) })) ?? rule;
}

/** `id+13000` */
function functionOfId(text: unknown): (id: bigint) => number {
  const expression = parseExpression(String(text));
  return (id) => expression({ id: Number(id) });
}

/** What is wrong with the first row that is not `value(id)` in all components. */
function checkRows(table: HashTable, which: BigInt64Array, value: (id: bigint) => number): string | undefined {
  const rows = table.lookup(which);
  for (const [i, id] of which.entries()) {
    for (const found of rows.subarray(i * table.dim, (i + 1) * table.dim)) {
      if (found !== Math.fround(value(id))) return `id ${id} is ${found}`;
    }
  }
  return undefined;
}

/** A table with the entries of a case. */
async function filled(given: Fields, tables?: CaseTables): Promise<HashTable> {
  const memory = tables ?? (await CaseTables.create());
  const table = memory.table(configOf(given.table, given));
  const { ids: which, values } = entriesOf(given.entries, table.dim);
  table.assign(which, values);
  return table;
}

/** Saves a few entries per call, each call going on where the one before stopped. */
async function resumedSave({ input }: ParityCase) {
  const given = fieldsOf(input, ['table', 'entries', 'shard', 'calls'], TABLE_FIELDS);
  const { idx, total, limit } = fieldsOf(given.shard, ['idx', 'total', 'limit']);
  const table = await filled(given);
  const pages = dumpPages(table, { shard: idx as number, shardCount: total as number, limit: limit as number });
  const calls: bigint[][] = [];
  for (let call = 0; call < (given.calls as number); call++) calls.push(pages.next());
  return { after_first_call: calls[0]?.length ?? 0, ids_unordered: calls.flat() };
}

/** A writer that wants no more stops the save. */
async function stoppedSave({ input }: ParityCase) {
  const given = fieldsOf(input, ['table', 'entries'], TABLE_FIELDS);
  const table = await filled(given);
  let calls = 0;
  for (const _entry of dumpAll(table)) {
    calls++;
    break;
  }
  return { writer_calls: calls };
}

async function shardedSave({ input, expected }: ParityCase) {
  const given = fieldsOf(input, ['table', 'ids', 'value', 'shards'], TABLE_FIELDS);
  const tables = await CaseTables.create();
  const config = configOf(given.table, given);
  const [source, target] = [tables.table(config), tables.table(config)];
  const which = ids(given.ids);
  const value = functionOfId(given.value);
  source.assign(
    which,
    Float32Array.from(Array.from(which).flatMap((id) => new Array<number>(source.dim).fill(value(id)))),
  );
  const dumps = await inDirectory(async (dir) => {
    const files = await saveBoth(source, undefined, `${dir}/table`, given.shards as number);
    if (files.length !== given.shards) throw new Error(`there are ${files.length} files`);
    await restoreBoth(target, undefined, `${dir}/table`);
    return entryRecords(files).length;
  });
  const rule = (expected as Fields).restored_values;
  if (target.size !== which.length) throw new Error(`${target.size} rows were restored`);
  return { dumps, restored_values: checkRows(target, which, functionOfId(rule)) ?? rule };
}

async function eviction({ input }: ParityCase) {
  const entries = ['entries', 'update_time', 'evict_at'];
  const given = fieldsOf(input, ['table', ...entries], TABLE_FIELDS);
  const table = (await CaseTables.create()).table(configOf(given.table, given));
  const rows = (given.entries as unknown[]).map((entry) => fieldsOf(entry, ['id', 'value'], ['time']));
  for (const { id, value, time } of rows) {
    const timeSec = (time ?? given.update_time) as number;
    table.assign(ids([id]), new Float32Array(table.dim).fill(value as number), { timeSec });
  }
  table.evict(given.evict_at as number);
  const found = table.lookup(ids(rows.map(({ id }) => id)));
  return { lookup: rows.map((_, i) => found[i * table.dim]) };
}

/** `ids 0..2999 <- id%2`, perhaps with a remark in parentheses. */
function proseRows(text: unknown, dim: number): { ids: BigInt64Array; values: Float32Array } {
  const [span, rule] = parseForm(text, /^ids (\S+) <- ([^(]+?)(?: \(.*\))?$/) as [string, string];
  const expression = parseExpression(rule);
  const numbers = parseSpan(span);
  return {
    ids: BigInt64Array.from(numbers, BigInt),
    values: Float32Array.from(numbers.flatMap((id) => new Array<number>(dim).fill(expression({ id })))),
  };
}

/** `odd ids only`: the words themselves when the table has just those of the ids. */
function checkedContains(table: HashTable, which: BigInt64Array, words: unknown): unknown {
  const kinds: Record<string, (id: bigint) => boolean> = {
    'odd ids only': (id) => id % 2n !== 0n,
    'even ids only': (id) => id % 2n === 0n,
    'all ids': () => true,
    'no ids': () => false,
  };
  const kind = kinds[String(words)];
  if (kind === undefined) throw new UnknownForm(String(words));
  const found = table.contains(which);
  const wrong = which.find((id, i) => kind(id) !== (found[i] === 1));
  return wrong === undefined ? words : `id ${wrong} differs`;
}

async function proseAssign({ input, expected }: ParityCase) {
  const given = fieldsOf(input, ['table', 'assign'], TABLE_FIELDS);
  const table = (await CaseTables.create()).table(configOf(given.table, given));
  const { ids: which, values } = proseRows(given.assign, table.dim);
  table.assign(which, values);
  const wanted = expected as Fields;
  return {
    contains: checkedContains(table, which, wanted.contains),
    lookup: checkRows(table, which, functionOfId(wanted.lookup)) ?? wanted.lookup,
  };
}

async function proseRestore({ input, expected }: ParityCase) {
  const given = fieldsOf(input, ['source_table', 'target_table', 'source'], TABLE_FIELDS);
  const tables = await CaseTables.create();
  const source = tables.table(configOf(given.source_table, given));
  const target = tables.table(configOf(given.target_table, given));
  const { ids: which, values } = proseRows(given.source, source.dim);
  source.assign(which, values);
  const count = await restoreInto(source, target);
  const words = (expected as Fields).target_contains;
  return { dump_count: count, target_contains: checkedContains(target, which, words) };
}

export const handlers: ParityHandlers = { hash_table: hashTable };
