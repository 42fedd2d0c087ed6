import t from 'tap';
import { Graph, type OpDef } from '../../src/graph/graph.js';
import { relu } from '../../src/graph/ops/activations.js';
import { assembleColumns, columns, concatColumns } from '../../src/graph/ops/columns.js';
import { addN, mul, Sub, scale } from '../../src/graph/ops/elementwise.js';
import { sigmoidCrossEntropyWithLogits } from '../../src/graph/ops/losses.js';
import { MatMul, matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { addBias, rowDot, scaleRows } from '../../src/graph/ops/rows.js';
import {
  constant,
  GLOBAL_STEP,
  globalStep,
  group,
  idsPlaceholder,
  increment,
  placeholder,
  raggedPlaceholder,
  VARIABLES,
  variable,
} from '../../src/graph/ops/state.js';

const Nothing: OpDef<null> = { type: 'Nothing', infer: () => [] };
const zeros = (count: number) => () => new Float32Array(count);

t.test('names are made unique by counting', async (t) => {
  const graph = new Graph();
  const names = ['a', 'a', 'a_1', undefined, undefined, 'a'].map((name) => graph.add(Nothing, [], null, name).name);
  t.same(names, ['a', 'a_1', 'a_1_1', 'Nothing', 'Nothing_1', 'a_2']);
  t.equal(graph.op('a_2').name, 'a_2');
  t.same(
    graph.ops.map((op) => op.name),
    names,
    'ops are listed in the order they were made',
  );
});

t.test('scopes nest, end with their body even when it throws, and can be left for a while', async (t) => {
  const graph = new Graph();
  graph.nameScope('outer', () => {
    t.equal(graph.nameScope('inner', () => graph.add(Nothing, [], null, 'x')).name, 'outer/inner/x');
    t.throws(() => graph.nameScope('broken', () => graph.op('missing')), { code: 'ML_GRAPH' });
    t.equal(graph.rootScope(() => graph.add(Nothing, [], null, 'y')).name, 'y');
    t.equal(graph.add(Nothing, [], null, 'z').name, 'outer/z');
  });
  t.equal(graph.add(Nothing, [], null, 'x').name, 'x');
});

t.test('control dependencies are those of all open bodies', async (t) => {
  const graph = new Graph();
  const [a, b] = [graph.add(Nothing, [], null, 'a'), graph.add(Nothing, [], null, 'b')];
  const both = graph.controlDependencies([a], () => graph.controlDependencies([b], () => graph.add(Nothing, [], null)));
  t.same(both.controlInputs, [a, b]);
  t.same(graph.add(Nothing, [], null).controlInputs, []);
  const x = placeholder(graph, { name: 'x' });
  t.same(group(graph, [x, a]).controlInputs, [x.op, a], 'a tensor stands for its op');
});

t.test('tensors are found by name, also when the name of the op holds a colon', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 4 });
  const part = columns(x, 0, 2, { name: 'x:0_2' });
  t.equal(graph.tensor('x'), x);
  t.equal(graph.tensor('x:0'), x);
  t.equal(graph.tensor('x:0_2'), part);
  t.equal(graph.tensor(part.name), part);
  for (const name of ['x:1', 'y', 'y:0', 'x:zero']) t.throws(() => graph.tensor(name), { code: 'ML_GRAPH' }, name);
});

t.test('collections keep their order and hand out copies', async (t) => {
  const graph = new Graph();
  const w = variable(graph, { name: 'w', shape: [2], initial: zeros(2) });
  const step = globalStep(graph);
  t.equal(globalStep(graph), step, 'there is one global step');
  t.same(graph.getCollection(VARIABLES), [w, step]);
  t.same(graph.getCollection(GLOBAL_STEP), [step]);
  (graph.getCollection(VARIABLES) as unknown[]).pop();
  t.equal(graph.getCollection(VARIABLES).length, 2);
  t.same(graph.getCollection('none'), []);
});

t.test('a final graph takes nothing more', async (t) => {
  const graph = new Graph();
  t.notOk(graph.finalized);
  graph.finalize();
  t.ok(graph.finalized);
  t.throws(() => placeholder(graph, { name: 'x' }), { code: 'ML_GRAPH', message: /x: the graph is final/ });
});

t.test('inputs of another graph are refused', async (t) => {
  const [x, y] = [placeholder(new Graph(), { name: 'x' }), placeholder(new Graph(), { name: 'y' })];
  t.throws(() => addN([x, y]), { code: 'ML_GRAPH', message: /another graph/ });
});

t.test('shapes follow from the inputs', async (t) => {
  const graph = new Graph();
  const [x, y, one] = [
    placeholder(graph, { name: 'x', width: 3 }),
    placeholder(graph, { name: 'y', width: 3 }),
    placeholder(graph, { name: 'one' }),
  ];
  const w = variable(graph, { name: 'w', shape: [3, 1], initial: zeros(3) });
  t.same(one.spec.shape, ['batch']);
  t.same(rowDot(x, y).spec.shape, ['batch']);
  t.same(columns(x, 1, 3).spec.shape, ['batch', 2]);
  t.same(columns(x, 1, 2).spec.shape, ['batch']);
  t.same(concatColumns([x, one, y]).spec.shape, ['batch', 7]);
  t.same(matMul(x, w).spec.shape, ['batch', 1]);
  t.same(matMul(x, y, { transposeA: true }).spec, { dtype: 'float32', shape: [3, 3], partial: true });
  t.same(reduceMean(x).spec, { dtype: 'float32', shape: [], partial: true });
  t.same(scaleRows(one, x).spec.shape, ['batch', 3]);
  t.equal(addN([x]), x, 'a sum of one is that one');
});

t.test('what does not fit is refused with the reason', async (t) => {
  const graph = new Graph();
  const [x, y, one] = [
    placeholder(graph, { name: 'x', width: 3 }),
    placeholder(graph, { name: 'y', width: 2 }),
    placeholder(graph, { name: 'one' }),
  ];
  const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 2 });
  const w = variable(graph, { name: 'w', shape: [3, 2], initial: zeros(6) });
  const mean = reduceMean(one);
  const partial = matMul(x, y, { transposeA: true });
  const step = globalStep(graph);
  const cases: [string, () => unknown, RegExp][] = [
    ['sum', () => addN([x, y]), /\[batch, 3\] and \[batch, 2\] differ/],
    ['sum of nothing', () => addN([]), /nothing to add/],
    ['ids in a sum', () => addN([one, ids]), /ids:0 holds int64/],
    [
      'mixed sum',
      () => graph.add(Sub, [mean, constant(graph, [1], { shape: [] })], null),
      /one is a sum over the batch/,
    ],
    ['product', () => mul(x, y), /\[batch, 3\] and \[batch, 2\] do not fit/],
    [
      'product with a vector of another size',
      () => mul(x, constant(graph, [1, 2], { shape: [2] })),
      /\[2\] do not fit/,
    ],
    ['columns', () => columns(x, 2, 4), /\[2, 4\) of 3 columns/],
    ['half a column', () => columns(x, 0.5, 2), /\[0.5, 2\) of 3/],
    ['feed of nothing', () => placeholder(graph, { name: 'none', width: 0 }), /cannot have 0 values/],
    ['feed of half an id', () => idsPlaceholder(graph, { name: 'half', width: 1.5 }), /cannot have 1.5 values/],
    [
      'rows of no ids',
      () => raggedPlaceholder(graph, { name: 'rows', valuesPerRow: 0 }),
      /cannot have 0 values on average/,
    ],
    ['no columns', () => columns(x, 2, 2), /\[2, 2\) of 3/],
    ['parts beyond the width', () => assembleColumns(y, [{ start: 1, grad: y }]), /\[1, 3\) of 2/],
    ['concat of nothing', () => concatColumns([]), /nothing to join/],
    ['factors', () => scaleRows(x, x), /one factor per example/],
    ['mean of shared values over the batch', () => reduceMean(w, { axis: 'batch' }), /a row per example/],
    ['scale of a counter', () => scale(step, 2), /int64/],
    ['matrix product', () => matMul(y, w), /\[batch, 2\] and \[3, 2\] do not fit/],
    ['product with a vector', () => matMul(x, one), /one:0 must be a matrix/],
    ['batch as columns', () => matMul(w, x, { transposeB: true, transposeA: true }), /do not fit|only be rows/],
    [
      'product with a sum over the batch',
      () => graph.add(MatMul, [x, partial], { transposeA: false, transposeB: false }),
      /completed with batchSum/,
    ],
    ['bias', () => addBias(x, w), /do not fit/],
    ['bias that is a sum over the batch', () => addBias(x, addBiasSum()), /do not fit/],
    ['activation', () => relu(w), /a row per example/],
    ['loss', () => sigmoidCrossEntropyWithLogits(x, one), /one logit and one label/],
    ['label of ids', () => sigmoidCrossEntropyWithLogits(one, ids), /int64/],
    ['counter', () => increment(w), /int64 variable/],
    ['negative count', () => increment(step, { by: -1 }), /cannot grow by -1/],
    ['constant', () => constant(graph, [1, 2], { shape: [3] }), /2 values do not fill \[3\]/],
  ];
  function addBiasSum() {
    return graph.add(
      { type: 'Sum', infer: () => [{ dtype: 'float32', shape: [3], partial: true }] } satisfies OpDef<null>,
      [],
      null,
    ).output;
  }
  const before = graph.ops.length;
  for (const [what, body, message] of cases) t.throws(body, { code: 'ML_GRAPH', message }, what);
  // Two constants and a sum are made by the cases themselves.
  t.ok(graph.ops.length <= before + 3, 'a refused op leaves nothing behind');
});
