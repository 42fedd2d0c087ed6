import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { scale } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { globalStep, increment, placeholder, raggedPlaceholder, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import { coreOf } from '../../src/runtime/session/session-handle.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { NestedTensors } from '../../src/tensor/nested.js';
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { Tensor as DenseTensor } from '../../src/tensor/tensor.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { openSession, withSession } from './with-session.js';

function model() {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 2 });
  const w = variable(graph, { name: 'w', shape: [2, 1], initial: () => Float32Array.of(1, 2) });
  const y = matMul(x, w);
  const loss = reduceMean(y);
  const step = increment(globalStep(graph));
  return { graph, x, w, y, loss, step };
}

const feeds = { x: Float32Array.of(1, 1, 2, 0) };

t.test('fetches in lists and dictionaries give their values in the same structure', async (t) => {
  const { graph, w, y, loss, step } = model();
  await withSession(graph, {}, async (session) => {
    const result = await session.run({ loss, rest: [y, { w, none: null }, loss], step }, feeds);
    // Types follow the structure: these lines compile.
    const mean: number | Float32Array | BigInt64Array = result.loss;
    const inner: null = result.rest[1].none;
    t.equal(mean, 2.5);
    t.equal(inner, null);
    t.same(result, {
      loss: 2.5,
      rest: [Float32Array.of(3, 2), { w: Float32Array.of(1, 2), none: null }, 2.5],
      step: undefined,
    });
    t.equal(session.globalStep, 1, 'all of it was one step');
    t.equal(await session.run(loss, feeds), 2.5, 'a fetch alone gives its value');
    t.same(await session.run([loss, [loss]], feeds), [2.5, [2.5]]);
    t.same(await session.run({}, feeds), {});
  });
});

t.test('one program serves a structure that is run again', async (t) => {
  const { graph, loss, y } = model();
  await withSession(graph, {}, async (session) => {
    const tree = { loss, y };
    await session.run(tree, feeds);
    const free = coreOf(session).arena.free;
    for (let i = 0; i < 3; i++) await session.run(tree, feeds);
    t.equal(coreOf(session).arena.free, free);
  });
});

t.test('what is no fetch is refused', async (t) => {
  const { graph, loss } = model();
  await withSession(graph, {}, async (session) => {
    const wrong = (tree: unknown) => session.run(tree as never, feeds);
    await t.rejects(wrong({ loss: [loss, 3] }), { code: 'ML_GRAPH', message: /a tensor, an op, or the name of one/ });
    await t.rejects(wrong({ loss: new Map() }), { code: 'ML_NESTED_LEAF' });
    await t.rejects(wrong([3]), { code: 'ML_GRAPH' });
    await t.rejects(session.prepare(['y'] as never), { code: 'ML_GRAPH' });
  });
});

t.test('a fetch may be the name of a tensor or of an op', async (t) => {
  const { graph, loss, y, step } = model();
  await withSession(graph, {}, async (session) => {
    const [value, rows, nothing] = await session.run([loss.name, y.op.name, step.name], feeds);
    t.equal(value, 2.5);
    t.same(rows, Float32Array.of(3, 2), 'the first output of an op');
    t.equal(nothing, undefined);
    t.equal(session.globalStep, 1, 'an op without outputs ran');
    t.same(await session.run({ loss: [loss.name], again: loss }, feeds), { loss: [2.5], again: 2.5 });
    t.equal(await session.run('Mean:0', feeds), 2.5);
    const near = { code: 'ML_GRAPH', message: /no tensor and no op of this name/, hint: /did you mean Mean/ };
    for (const tree of ['Maen', ['Meen:0'], { loss: 'Mean:1' }]) await t.rejects(session.run(tree, feeds), near);
  });
});

t.test('names in a structure are those of the graph that runs it', async (t) => {
  const tree = { value: 'w:0' };
  for (const w of [2, 5]) {
    const graph = new Graph();
    variable(graph, { name: 'w', shape: [], initial: () => Float32Array.of(w) });
    await withSession(graph, { schema: [] }, async (session) => t.same(await session.run(tree), { value: w }));
  }
});

t.test('feeds may be tensors, by name or by placeholder', async (t) => {
  const { graph, x, loss } = model();
  const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 4 });
  const dense = DenseTensor.of('float32', [
    [1, 1],
    [2, 0],
  ]);
  const rows = RaggedTensor.fromRows('int64', [[1], [2, 3]]);
  await withSession(graph, {}, async (session) => {
    t.equal(await session.run(loss, { x: dense, ids: rows }), 2.5);
    const byPlaceholder = new Map<Tensor, DenseTensor | RaggedTensor>([
      [x, dense],
      [ids, rows],
    ]);
    t.equal(await session.run(loss, byPlaceholder), 2.5);
    const wrong = (x: DenseTensor, ids: RaggedTensor) => session.run(loss, { x, ids });
    t.equal(await wrong(DenseTensor.of('int32', [1, 1, 2, 0]), rows), 2.5);
    await t.rejects(wrong(DenseTensor.of('int64', [1, 1]), rows), { code: 'ML_FEED', message: /float32 \[rows, 2\]/ });
    await t.rejects(wrong(dense, RaggedTensor.fromRows('int32', [[1], []])), { code: 'ML_FEED' });
    await t.rejects(wrong(dense, RaggedTensor.fromRows('int64', [[[1]], []])), { code: 'ML_FEED' });
  });
});

t.test('testRaggedTensorWithPlaceHolder: a structure of placeholders is fed and fetched as one', async (t) => {
  const graph = new Graph();
  const values = { a: DenseTensor.of('float32', [1, 2]), b: [DenseTensor.of('float32', [3, 4]), 'name'] };
  const nested = new NestedTensors(values);
  const tensors = nested.getTensors();
  const placeholders = tensors.map((_, i) => placeholder(graph, { name: `p${i}` }));
  const inside = nested.mapResult(
    placeholders.map((tensor) => scale(tensor, 2)),
    () => null,
  ) as { a: never; b: [never, string] };
  await withSession(graph, {}, async (session) => {
    const fed = new Map(placeholders.map((tensor, i) => [tensor, tensors[i]!]));
    const result = await session.run({ a: inside.a, b: [inside.b[0]] }, fed);
    t.same(result, { a: Float32Array.of(2, 4), b: [Float32Array.of(6, 8)] });
  });
});

t.test('a monitored session takes structures too', async (t) => {
  const { graph, w, loss } = model();
  const [gradient] = gradients([loss], [w]);
  const [train] = applyGradients([[gradient!, w]], SgdOptimizer({ learningRate: 1 }));
  const seen: unknown[] = [];
  const fetches = [loss];
  const hook = {
    beforeRun: () => fetches,
    afterRun: (_: unknown, values: readonly unknown[]) => void seen.push(values),
  };
  const monitored = await MonitoredSession.create({ graph, hooks: [hook], createSession: () => openSession(graph) });
  t.teardown(() => monitored.close());
  t.same(await monitored.run({ loss, train: train! }, feeds), { loss: 2.5, train: undefined });
  t.same(seen, [[2.5]]);
});
