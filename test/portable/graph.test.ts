/** @file Graphs as plain data: what is read back computes the same bits, and what does not fit is refused. */
import t from 'tap';
import { Graph } from '../../src/graph/graph.js';
import { batchSum } from '../../src/graph/ops/batch-sum.js';
import { sub } from '../../src/graph/ops/elementwise.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { placeholder } from '../../src/graph/ops/state.js';
import type { JsonObject } from '../../src/portable/attributes.js';
import type { PortableOpJson } from '../../src/portable/document.js';
import { PORTABLE_OPS } from '../../src/portable/ops/all.js';
import { portableTable } from '../../src/portable/portable-tables.js';
import { readGraph } from '../../src/portable/read-graph.js';
import { writeGraph } from '../../src/portable/write-graph.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { openSession } from '../runtime/with-session.js';
import { everyOp, schema } from './every-op.js';

const { outputs } = everyOp();
const names = Object.keys(outputs);
const written = writeGraph(Object.values(outputs));
const tables = written.tables.map((table) => portableTable(table));
const json = JSON.parse(JSON.stringify({ ops: written.ops, tables })) as {
  ops: PortableOpJson[];
  tables: typeof tables;
};
const valuesOf = new Map(
  [...written.variables, ...written.constants].map((op) => [
    op.name,
    'values' in op.attrs ? op.attrs.values : (op.attrs.initial() as Float32Array),
  ]),
);

const feeds = {
  x: Float32Array.from({ length: 5 * 8 }, (_, at) => Math.cos(at * 1.7) * 2),
  ids: { splits: Int32Array.of(0, 1, 4, 4, 5, 9), values: BigInt64Array.from([1n, 2n, 3n, 1n, 9n, 4n, 4n, 2n, 1n]) },
  time: BigInt64Array.from([0n, 5n, -7n, 2n ** 40n, 3n]),
};

async function run(graph: Graph, fetches: readonly string[], table: HashTable['config']) {
  const session = await openSession(graph, { schema: schema.specs, batchSize: 8, threads: 1 });
  try {
    const ids = BigInt64Array.from([1n, 2n, 3n, 4n]);
    const rows = Float32Array.from({ length: 4 * 6 }, (_, at) => Math.sin(at) * 1.5);
    HashTable.of(session, table).assign(ids, rows);
    const list = fetches.map((name) => graph.tensor(name));
    return (await session.run(list, feeds, { mode: 'predict' })) as Float32Array[];
  } finally {
    await session.close();
  }
}

t.test('every op comes back and computes the same bits', async (t) => {
  const types = new Set(written.ops.map(({ type }) => type));
  t.same(
    [...PORTABLE_OPS.keys()].filter((type) => !types.has(type)),
    [],
    'each op that may be in a file is in this graph',
  );
  t.notOk(types.has('IfTraining') || types.has('Dropout') || types.has('StopGradient'), 'training stays behind');
  const read = readGraph(json, (name) => valuesOf.get(name)!);
  const again = everyOp();
  const before = await run(
    again.graph,
    Object.values(again.outputs).map(({ name }) => name),
    again.graph.getCollection('tables')[0]!,
  );
  const after = await run(read.graph, written.outputs, read.tables.get('items')!);
  for (const [index, name] of names.entries()) t.same(after[index], before[index], name);
});

t.test('what is written of a graph that was read is the same', async (t) => {
  const { graph } = readGraph(json, (name) => valuesOf.get(name)!);
  const again = writeGraph(written.outputs.map((name) => graph.tensor(name)));
  t.same(JSON.parse(JSON.stringify(again.ops)), json.ops);
});

t.test('attributes that reach outside of their inputs are refused', async (t) => {
  const attributesOf = (type: string) => json.ops.find((op) => op.type === type)!;
  const changes: [string, JsonObject][] = [
    ['Columns', { end: 99 }],
    ['AssembleColumns', { starts: [7, 7] }],
    ['Reshape', { shape: [3, 3] }],
    ['SliceInner', { start: 9 }],
    ['AssembleBlocks', { step: 1 }],
    ['GatherInner', { indices: [0, 7] }],
    ['SumInner', { axis: 5 }],
    ['BroadcastInner', { n: 2 ** 30 }],
    ['TopK', { k: 9 }],
    ['BatchMatMul', { a: { group: 8, row: 400, col: 1 } }],
    ['BatchMatMul', { k: 1000 }],
    ['PairProducts', { lefts: 3 }],
    ['Cin', { outs: 300 }],
    ['FmPairs', { fields: 9 }],
    ['Activation', { kind: 'constructor' }],
    ['Unary', { kind: '__proto__' }],
    ['LeakyRelu', { slope: 'x' }],
    ['Placeholder', { kind: 'dense', width: 0 }],
    ['EmbeddingLookup', { table: 'none' }],
    ['EmbeddingLookup', { pooling: { firstN: -1 } }],
    ['Variable', { shape: [2 ** 20, 2 ** 20] }],
    ['SequenceMask', { n: 0 }],
    ['Sum', { shape: [] }],
  ];
  for (const [type, change] of changes) {
    const changed = attributesOf(type);
    const ops = json.ops.map((op) => (op === changed ? { ...op, attributes: { ...op.attributes, ...change } } : op));
    t.throws(
      () => readGraph({ ...json, ops }, (name) => valuesOf.get(name)!),
      { code: 'ML_GRAPH' },
      `${type} ${JSON.stringify(change)}`,
    );
  }
});

t.test('edges and names that lead nowhere are refused', async (t) => {
  const [first, ...rest] = json.ops as [PortableOpJson, ...PortableOpJson[]];
  const refused = (ops: PortableOpJson[], text: RegExp) =>
    t.throws(() => readGraph({ ...json, ops }, (name) => valuesOf.get(name)!), { code: 'ML_GRAPH', message: text });
  refused(rest, /there is no op of this name/);
  refused([first, { ...first }, ...rest], /two ops of this name/);
  refused([...json.ops, { name: 'y', type: 'Assign', inputs: ['x:0'] }], /no op of type Assign/);
  refused([...json.ops, { name: 'y', type: 'Mul', inputs: ['x:0'] }], /has 1 inputs/);
});

t.test('a prediction that depends on the others of its batch cannot leave', async (t) => {
  const graph = new Graph({ mode: 'predict' });
  const x = placeholder(graph, { name: 'x', width: 2 });
  const centred = sub(x, batchSum(reduceMean(x, { axis: 'batch' })));
  t.throws(() => writeGraph([centred]), { code: 'ML_EXPORT', message: /depend on the others/ });
  t.throws(() => writeGraph([reduceMean(x)]), { code: 'ML_EXPORT' });
});
