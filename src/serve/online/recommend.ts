/** @file `:recommend` and `:lookup`: what is asked of a model beyond the calls of TensorFlow Serving. */
import { didYouMean } from '../../base/suggest.js';
import { idOf } from '../../data/cells.js';
import { LISTED_MAX } from '../loaded-model.js';
import { listOf, onlyKeys } from './asked-rows.js';
import { columnsOf, type GivenRow, type RowCheck } from './columns.js';
import { isObject, type JsonObject } from './read-body.js';
import { refusal } from './refusal.js';
import type { ServedVersion } from './served-version.js';

const TOP = 10;
const TOP_MAX = 1000;
/** Candidates of a request. */
const CANDIDATES_MAX = 10_000;
/** Candidates that are scored between two looks at whether anybody still waits. */
const AT_ONCE = 1024;
const LOOKUP_MAX = 10_000;

export interface RecommendCall {
  readonly body: JsonObject;
  readonly version: ServedVersion;
  readonly check: RowCheck;
  readonly signal: AbortSignal;
}

interface Candidate {
  readonly id: unknown;
  readonly row: GivenRow;
}

/** The candidates with the highest scores of the first output. */
export async function recommend({ body, version, check, signal }: RecommendCall): Promise<object> {
  onlyKeys(body, ['for', 'top', 'item', 'exclude', 'candidates']);
  const given = check.known(body.for ?? {}, 'for');
  const top = topOf(body.top);
  const { heads } = version.model;
  if (heads[0]!.width !== 1) throw refusal(400, `the output ${heads[0]!.name} has ${heads[0]!.width} values`);
  const item = itemOf(version, given, body);
  const excluded = new Set(
    (body.exclude === undefined ? [] : listOrNone(body.exclude, 'exclude')).map((id) => `${keyOf(id)}`),
  );
  const candidates = candidatesOf(version, item, body, check).filter(({ id }) => !excluded.has(`${keyOf(id)}`));
  const best: { readonly id: unknown; readonly score: number }[] = [];
  for (let from = 0; from < candidates.length; from += AT_ONCE) {
    signal.throwIfAborted();
    const some = candidates.slice(from, from + AT_ONCE);
    const [scores] = await version.score(
      some.map(({ row }) => ({ ...row, ...given })),
      signal,
    );
    for (const [index, { id }] of some.entries()) best.push({ id, score: scores![index]! });
    best.sort((a, b) => b.score - a.score);
    best.length = Math.min(best.length, top);
  }
  return {
    items: best.map(({ id, score }) => ({ id: plainId(id), score })),
    scored: candidates.length,
    version: version.version,
  };
}

function topOf(value: unknown): number {
  if (value === undefined) return TOP;
  if (Number.isInteger(value) && (value as number) > 0 && (value as number) <= TOP_MAX) return value as number;
  throw refusal(400, `top: a whole number from 1 to ${TOP_MAX} is needed`);
}

function listOrNone(value: unknown, name: string): readonly unknown[] {
  return Array.isArray(value) && value.length === 0 ? [] : listOf(value, name, CANDIDATES_MAX);
}

/** The column whose values are recommended: what is asked for, or the only id that is not given. */
function itemOf(version: ServedVersion, given: GivenRow, { item }: JsonObject): string {
  const ids = columnsOf(version.model.schema.features).flatMap(({ column, name, feature }) =>
    feature.kind === 'ids' && version.model.tableOf.has(name) ? [column] : [],
  );
  if (item !== undefined) {
    if (ids.includes(item as string)) return item as string;
    const hint = didYouMean(String(item), ids) ?? `there are ${ids.join(', ')}`;
    throw refusal(400, `item: no id feature is called ${JSON.stringify(item)}`, { hint });
  }
  const open = ids.filter((column) => !Object.hasOwn(given, column));
  if (open.length === 1) return open[0]!;
  const hint = open.length === 0 ? 'leave what is recommended out of for' : `it is one of ${open.join(', ')}`;
  throw refusal(400, 'item: say which feature is recommended', { hint });
}

function candidatesOf(version: ServedVersion, item: string, body: JsonObject, check: RowCheck): readonly Candidate[] {
  if (body.candidates !== undefined) {
    return listOf(body.candidates, 'candidates', CANDIDATES_MAX).map((value, index) => {
      const row = isObject(value) ? check.known(value, `candidates[${index}]`) : { [item]: value };
      if (row[item] !== undefined) return { id: row[item], row };
      throw refusal(400, `candidates[${index}].${item}: what is recommended is missing`);
    });
  }
  const { candidates } = version;
  if (candidates !== null) return candidates.map((row) => ({ id: row[item], row: check.known(row, 'candidate') }));
  const info = columnsOf(version.model.schema.features).find(({ column }) => column === item)!;
  const ids = version.model.idsOf(info.name);
  if (ids !== null) return Array.from(ids, (id) => ({ id, row: { [item]: id } }));
  throw refusal(400, `candidates: ${item} has more than ${LISTED_MAX} ids`, {
    hint: 'give candidates, or put candidates.jsonl into the version',
  });
}

const keyOf = (id: unknown): bigint => idOf(id, (reason) => refusal(400, `exclude: ${reason}`));

/** Numbers that JSON has no room for are texts of digits. */
const plainId = (id: unknown): unknown => (typeof id === 'bigint' ? jsonInteger(id) : id);

function jsonInteger(id: bigint): number | string {
  const small = id >= BigInt(Number.MIN_SAFE_INTEGER) && id <= BigInt(Number.MAX_SAFE_INTEGER);
  return small ? Number(id) : `${id}`;
}

/** Rows of ids in the table of a feature. */
export async function lookup(body: JsonObject, version: ServedVersion): Promise<object> {
  onlyKeys(body, ['feature', 'ids']);
  const { feature } = body;
  if (typeof feature !== 'string') throw refusal(400, 'feature: the name of a feature is needed');
  const { model } = version;
  const table = model.tableOfFeature(feature);
  const refuse = (index: number) => (reason: string, hint?: string) =>
    refusal(400, `ids[${index}]: ${reason}`, { hint });
  const ids = BigInt64Array.from(listOf(body.ids, 'ids', LOOKUP_MAX).map((id, index) => idOf(id, refuse(index))));
  const [values, known] = await model.hold(async () => [table.lookup(ids), table.contains(ids)] as const);
  const embeddings = Array.from(ids, (_, row) => Array.from(values.subarray(row * table.dim, (row + 1) * table.dim)));
  return { feature, dim: table.dim, embeddings, known: Array.from(known, (one) => one === 1) };
}
