import t from 'tap';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { psDevice } from '../../src/graph/device.js';
import { Graph, type OpDef } from '../../src/graph/graph.js';
import {
  describeGraph,
  type GraphDescription,
  graphDescription,
  graphToJson,
  readGraphJson,
} from '../../src/graph/graph-description.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import {
  constant,
  globalStep,
  group,
  increment,
  placeholder,
  raggedPlaceholder,
  variable,
} from '../../src/graph/ops/state.js';

function sample(): Graph {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 3 });
  raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 2 });
  const w = graph.device(psDevice(1), () =>
    variable(graph, { name: 'w', shape: [3, 2], initial: () => new Float32Array(6) }),
  );
  const loss = reduceMean(
    graph.nameScope('tower', () => matMul(x, w, { name: 'y' })),
    { name: 'loss' },
  );
  const count = graph.controlDependencies([loss], () => increment(globalStep(graph)));
  group(graph, [count], { name: 'train' });
  graph.addToCollection('losses', loss);
  graph.addToCollection('notes', { tried: 2n, with: [Number.NaN, null] });
  return graph;
}

const byName = ({ ops }: GraphDescription) => new Map(ops.map((op) => [op.name, op]));

t.test('a description says what each op is, reads, makes, runs after, and who made it', async (t) => {
  const graph = sample();
  const ops = byName(graphDescription(graph));
  t.match(ops.get('w'), {
    type: 'Variable',
    inputs: [],
    outputs: [{ dtype: 'float32', shape: [3, 2] }],
    device: psDevice(1),
    attributes: { dtype: 'float32', shape: [3, 2], trainable: true },
    place: /graph-description\.test\.[jt]s:\d+:\d+$/,
  });
  t.notOk('initial' in ops.get('w')!.attributes!, 'functions are no attributes');
  t.match(ops.get('tower/y'), { inputs: ['x:0', 'w:0'], outputs: [{ shape: ['batch', 2] }] });
  t.match(ops.get('ids'), { outputs: [{ dtype: 'int64', ragged: true }] });
  t.match(ops.get('loss')!.outputs[0], { shape: [], partial: true });
  t.match(ops.get('AssignAdd'), { controlInputs: ['loss'], outputs: [] });
  t.match(ops.get('train'), { controlInputs: ['AssignAdd'], inputs: [] });
  const { collections } = graphDescription(graph);
  t.same(collections.losses, ['loss:0']);
  t.same(collections.notes, [{ tried: '2', with: ['NaN', null] }]);
  t.same(collections.global_step, ['global_step:0']);
});

t.test('JSON comes back as it was, and two equal graphs give the same text', async (t) => {
  const text = graphToJson(sample());
  t.equal(text, graphToJson(sample()));
  t.same(readGraphJson(text), graphDescription(sample()));
  t.equal(
    text.split('\n').length,
    sample().ops.length + Object.keys(graphDescription(sample()).collections).length + 4,
  );
  t.same(readGraphJson(graphToJson(new Graph())), { format: 'monolith-graph', version: 1, ops: [], collections: {} });
  const ffm = buildFfm().graph;
  t.same(readGraphJson(graphToJson(ffm)), graphDescription(ffm), 'tables and lookups too');
});

t.test('attributes may be anything', async (t) => {
  const graph = new Graph();
  const Any: OpDef<unknown> = { type: 'Any', infer: () => [] };
  const circle: { self?: unknown; deep: unknown } = { deep: { a: { b: { c: { d: { e: 1 } } } } } };
  circle.self = circle;
  const x = constant(graph, [1], { shape: [] });
  graph.add(Any, [x], {
    z: 1,
    a: x,
    long: new Float32Array(1000),
    list: Array.from({ length: 1000 }, () => 1),
    short: BigInt64Array.of(-1n, 2n),
    circle,
    map: new Map([['k', new Set(['v'])]]),
    call: () => 1,
    none: undefined,
  });
  graph.add(Any, [], null);
  const ops = byName(readGraphJson(graphToJson(graph)));
  const { attributes } = ops.get('Any')!;
  t.same(Object.keys(attributes!), ['a', 'circle', 'list', 'long', 'map', 'short', 'z']);
  t.match(attributes, {
    a: 'Const:0',
    circle: { self: { type: 'Object' }, deep: { a: { b: { c: { type: 'Object' } } } } },
    list: { type: 'Array', length: 1000 },
    long: { type: 'Float32Array', length: 1000 },
    map: { k: ['v'] },
    short: ['-1', '2'],
  });
  t.equal(ops.get('Any_1')!.attributes, undefined);
});

t.test('what is no description is refused, and why', async (t) => {
  const good = graphDescription(sample());
  const changed = (index: number, change: object) =>
    JSON.stringify({ ...good, ops: good.ops.map((op, at) => (at === index ? { ...op, ...change } : op)) });
  const cases: [string, RegExp][] = [
    ['{', /JSON/],
    ['[]', /file: .*object/],
    [JSON.stringify({ ...good, version: 2 }), /version: /],
    [changed(0, { type: undefined }), /ops\.0\.type: /],
    [changed(0, { outputs: [{ dtype: 'f8', shape: [] }] }), /ops\.0\.outputs\.0\.dtype/],
    [changed(0, { inputs: ['loss:0'] }), /x reads loss:0, which no op before it makes/],
    [changed(0, { controlInputs: ['train'] }), /x runs after train, which is no op before it/],
    [changed(1, { name: 'x' }), /two ops called x/],
    [changed(1, { extra: 1 }), /extra/],
  ];
  for (const [text, reason] of cases) {
    t.throws(() => readGraphJson(text, 'g.json'), { code: 'ML_GRAPH_JSON', fields: { source: 'g.json', reason } });
  }
});

t.test('the text has a line per op', async (t) => {
  const graph = sample();
  const lines = describeGraph(graph).split('\n');
  t.equal(lines[0], `${graph.ops.length} ops`);
  t.match(lines[1], /^x:0 float32 \[batch, 3\] = Placeholder\(\) at \S+:\d+:\d+$/);
  const expected = [
    /^ids:0 int64 .* ragged = /,
    / = Variable\(\) on \/job:ps\/task:1\S* at /,
    /^AssignAdd = AssignAdd\(global_step:0\) after loss at /,
  ];
  for (const line of expected)
    t.ok(
      lines.some((text) => line.test(text)),
      String(line),
    );
  t.equal(lines.at(-2), 'collections: global_step: 1, losses: 1, notes: 1, variables: 2');
  t.equal(describeGraph(readGraphJson(graphToJson(graph))), describeGraph(graph));
});
