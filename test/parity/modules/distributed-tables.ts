/** @file Cases of tables over servers. */
import type { FidColumns } from '../../../src/feature/serving/fid-columns.js';
import { PartitionedHashTable } from '../../../src/feature/serving/partitioned-hash-table.js';
import { OUT_TYPE, POOLING_TYPE } from '../../../src/io/example-messages.js';
import type { HashTableConfigInstance } from '../../../src/sparse/config/table-config.js';
import { DistributedHashTable } from '../../../src/sparse/many/distributed-hash-table.js';
import { MultiTypeHashTable } from '../../../src/sparse/many/multi-type-hash-table.js';
import { Tensor } from '../../../src/tensor/tensor.js';
import { type Fields, fieldsOf, type ParityCase, type ParityHandlers, UnknownForm } from '../case.js';
import { Series } from '../derived.js';
import { parseExpression, parseForm, parseSpan } from '../expression.js';
import { CaseTables, configOf, entriesOf, rowsOf } from '../tables.js';
import { f32, ids } from '../values.js';

async function sharded({ input }: ParityCase) {
  const rounds = Object.keys(input as Fields).filter((name) => /^assign(_add)?_\d+$/.test(name));
  const optional = ['lr', 'lr_fn', 'ids', 'grads', 'global_steps', 'global_step', 'steps', 'time'];
  const given = fieldsOf(input, ['ps', 'dim'], [...optional, ...rounds]);
  const tables = await CaseTables.create();
  const config = configOf({ dim: given.dim }, { lr: given.lr, lr_fn: given.lr_fn });
  const servers = Array.from({ length: given.ps as number }, (_, s) => tables.table(config, { name: `server ${s}` }));
  const table = new DistributedHashTable('table', servers);
  const rows = (which: BigInt64Array) => rowsOf(table.lookup(which), table.dim);
  const found: Record<string, unknown> = {};
  const known = new Set<bigint>();
  const number = (name: string) => Number(/\d+$/.exec(name)![0]);
  for (const name of rounds.sort((a, b) => number(a) - number(b))) {
    const update = entriesOf(given[name], table.dim);
    if (name.startsWith('assign_add')) table.assignAdd(update.ids, update.values);
    else table.assign(update.ids, update.values);
    for (const id of update.ids) known.add(id);
    // All ids so far, in the order of the numbers.
    found[`lookup_${number(name)}`] = rows(BigInt64Array.from(known).sort());
  }
  if (given.ids === undefined) return found;
  const once = given.global_step ?? 0;
  const steps = (given.global_steps ?? new Array((given.steps ?? 1) as number).fill(once)) as number[];
  const after = steps.map((globalStep) => {
    const gradients = f32(given.grads).data.slice();
    table.optimize(ids(given.ids), gradients, { globalStep, timeSec: (given.time ?? 0) as number });
    return rows(ids(given.ids));
  });
  return { ...found, lookup: new Series(after) };
}

interface Layout {
  readonly outType: number;
  readonly sliceConfigs: readonly { featureName: string; start: number; end: number }[];
}

/** `CONCAT uid[0:1],gid[0:1]` */
function layoutOf(text: string): Layout {
  const [type, slices] = parseForm(text, /^(\w+) (.+)$/) as [keyof typeof OUT_TYPE, string];
  const outType = OUT_TYPE[type];
  if (outType === undefined) throw new UnknownForm(text);
  return {
    outType,
    sliceConfigs: slices.split(',').map((slice) => {
      const [featureName, start, end] = parseForm(slice.trim(), /^(\w+)\[(\d+):(\d+)\]$/);
      return { featureName: featureName!, start: Number(start), end: Number(end) };
    }),
  };
}

const sumOf = (dims: readonly number[]) => dims.reduce((sum, dim) => sum + dim, 0);

/** A partitioned table of one table per feature. */
function partitionedOf(
  tables: CaseTables,
  servers: number,
  features: Readonly<Record<string, readonly number[]>>,
  layouts: Readonly<Record<string, Layout>>,
  config: (dims: readonly number[]) => HashTableConfigInstance,
): PartitionedHashTable {
  const configs = {
    featureConfigs: new Map(
      Object.entries(features).map(([name, dims]) => [
        name,
        { table: name, sliceDims: [...dims], poolingType: POOLING_TYPE.SUM },
      ]),
    ),
    outConfigs: new Map(
      Object.entries(layouts).map(([name, { outType, sliceConfigs }]) => [
        name,
        { outType, sliceConfigs: [...sliceConfigs] },
      ]),
    ),
  };
  const parts = Array.from({ length: servers }, (_, p) => {
    const own = Object.entries(features).map(([name, dims]) => [
      name,
      tables.table(config(dims), { name: `${name} ${p}` }),
    ]);
    return new MultiTypeHashTable(Object.fromEntries(own));
  });
  return new PartitionedHashTable(configs, parts);
}

/** The ids of each feature by example, as columns. */
function columnsOf(table: PartitionedHashTable, samples: Readonly<Record<string, readonly bigint[][]>>): FidColumns {
  const batchSize = Object.values(samples)[0]!.length;
  const columns = table.plan.order.features.map(({ name }) => {
    const lists = samples[name];
    if (lists === undefined) throw new UnknownForm(`no ids for ${name}`);
    const splits = new Int32Array(lists.length + 1);
    lists.forEach((list, s) => {
      splits[s + 1] = splits[s]! + list.length;
    });
    return { shared: false, fids: BigInt64Array.from(lists.flat()), splits };
  });
  return { batchSize, columns };
}

/** `b in 0..5: uid=[3b], gid=[3b+1]` */
function examplesOf(text: unknown): Record<string, bigint[][]> {
  const [variable, span, features] = parseForm(text, /^(\w+) in (\S+): (.+)$/) as [string, string, string];
  const rows = parseSpan(span);
  return Object.fromEntries(
    [...features.matchAll(/(\w+)=\[([^\]]*)\]/g)].map(([, name, list]) => {
      const parts = list === '' ? [] : list!.split(',').map(parseExpression);
      return [name!, rows.map((row) => parts.map((part) => BigInt(part({ [variable]: row }))))];
    }),
  );
}

/** `table of feature f holds fids p + 2*j for shard p, j < sum(dims f); every component 2.0` */
function fillServers(
  table: PartitionedHashTable,
  text: unknown,
  features: Readonly<Record<string, readonly number[]>>,
) {
  const pattern = /^table of feature f holds fids (.+) for shard p, j < (.+); every component (-?[\d.]+)$/;
  const [fid, limit, value] = parseForm(text, pattern) as [string, string, string];
  const fidOf = parseExpression(fid);
  table.servers.forEach((server, p) => {
    for (const [name, dims] of Object.entries(features)) {
      const dim = sumOf(dims);
      const count = limit === 'sum(dims f)' ? dim : parseExpression(limit)({});
      const fids = BigInt64Array.from({ length: count }, (_, j) => BigInt(fidOf({ p, j })));
      server.assign({ [name]: { ids: fids, values: new Float32Array(count * dim).fill(Number(value)) } });
    }
  });
}

async function partitioned({ input }: ParityCase) {
  const steps = ['segments', 'start_value', 'layout_gradient', 'each_fid_touched_once'];
  const given = fieldsOf(input, ['ps'], ['features', 'rows', 'examples', 'layouts', ...steps]);
  const tables = await CaseTables.create();
  if (given.segments !== undefined) return layoutStep(given, tables);
  const features = given.features as Record<string, number[]>;
  const layouts = Object.fromEntries(
    Object.entries(given.layouts as Record<string, string>).map(([name, text]) => [name, layoutOf(text)]),
  );
  const table = partitionedOf(tables, given.ps as number, features, layouts, (dims) => configOf({ dim: sumOf(dims) }));
  fillServers(table, given.rows, features);
  const found = table.lookup(table.shardColumns(columnsOf(table, examplesOf(given.examples))));
  return Object.fromEntries(
    Object.entries(found.layouts).map(([name, list]) => [name, list.length === 1 ? list[0] : list]),
  );
}

/** One step of rows of one value by layout gradients of one value: what each kind of segment makes of it. */
async function layoutStep(given: Fields, tables: CaseTables) {
  const pattern = /^first slice (\w+) \(defaults\), others (\w+) \(defaults\), lr ([\d.]+)$/;
  const [first, others, lr] = parseForm(given.segments, pattern) as [string, string, string];
  if (given.each_fid_touched_once !== true) throw new UnknownForm('fids that are touched more than once');
  const features = { uid: [1, 4], gid: [1, 4, 8] };
  const segments = (dims: readonly number[]) => dims.map((dim, i) => ({ dim, opt: i === 0 ? first : others }));
  const whole = (featureName: string, dims: readonly number[]) => ({ featureName, start: 0, end: sumOf(dims) });
  const layouts = {
    all: { outType: OUT_TYPE.NONE, sliceConfigs: Object.entries(features).map(([name, dims]) => whole(name, dims)) },
  };
  const table = partitionedOf(tables, given.ps as number, features, layouts, (dims) =>
    configOf({ segments: segments(dims) }, { lr: Number(lr) }),
  );
  const rows = given.start_value as number;
  const samples = { uid: [[0n, 1n], [2n]], gid: [[3n], [4n, 5n]] };
  table.servers.forEach((server, p) => {
    for (const [name, lists] of Object.entries(samples)) {
      const own = BigInt64Array.from(lists.flat().filter((id) => Number(id) % table.servers.length === p));
      const dim = sumOf(features[name as 'uid']);
      server.assign({ [name]: { ids: own, values: new Float32Array(own.length * dim).fill(rows) } });
    }
  });
  const found = table.lookup(table.shardColumns(columnsOf(table, samples)));
  const grads = found.layouts.all!.map(({ shape, size }) => {
    return new Tensor('float32', shape, new Float32Array(size).fill(given.layout_gradient as number));
  });
  table.applyGradients(found, { all: grads });
  const components: Record<string, Set<number>> = { [first]: new Set(), [others]: new Set() };
  for (const [name, lists] of Object.entries(samples)) {
    for (const id of lists.flat()) {
      const server = table.servers[Number(id) % table.servers.length]!;
      const row = server.lookup({ [name]: BigInt64Array.of(id) })[name]!;
      for (const [c, value] of row.entries()) components[c === 0 ? first : others]!.add(value);
    }
  }
  return Object.fromEntries(
    Object.entries(components).map(([name, values]) => {
      if (values.size !== 1) throw new Error(`${name} made ${[...values]} of one value`);
      return [`${name}_component`, [...values][0]];
    }),
  );
}

export const handlers: ParityHandlers = { partitioned_table: partitioned, sharded_table: sharded };
