/**
 * The cases of upstream's AsyncManagerTest by their names, in sessions, and what postpush of variables owes beyond
 * them.
 */
import t from 'tap';
import { AdamOptimizer, GradientDescentOptimizer } from '../../src/compat/optimizers.js';
import { applyGradientsWithVarOptimizer } from '../../src/feature/model/apply-gradients-with-var-optimizer.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { add, mul, scale } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean, reduceSum } from '../../src/graph/ops/reductions.js';
import {
  assignAdd,
  constant,
  globalStep,
  group,
  increment,
  placeholder,
  raggedPlaceholder,
  variable,
} from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import { OnesInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { AsyncFunctionMgr } from '../../src/train/async-function-mgr.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { BACKENDS, openSession, raggedOf } from '../runtime/with-session.js';

const zero = (graph: Graph, name: string) => variable(graph, { name, shape: [], initial: () => new Float32Array(1) });

interface Case {
  readonly isAsync?: boolean;
  readonly steps: number;
  /** Hooks around those of the manager. */
  readonly before?: readonly TrainHook[];
  readonly after?: readonly TrainHook[];
}

/** The value of `v` after so many runs of what `build` adds, before and after the end. */
async function valueAfter(
  build: (manager: AsyncFunctionMgr, v: Tensor) => Op,
  { isAsync = true, steps, before = [], after = [] }: Case,
): Promise<[number, number]> {
  const graph = new Graph();
  const manager = new AsyncFunctionMgr(isAsync);
  const v = zero(graph, 'v');
  const op = build(manager, v);
  const hooks = [...before, ...manager.hooks, ...after];
  const monitored = await MonitoredSession.create({ graph, hooks, createSession: () => openSession(graph) });
  const { session } = monitored;
  try {
    for (let step = 0; step < steps; step++) await monitored.run([op]);
    const running = Number(session.readVariable('v')[0]);
    await monitored.end();
    return [running, Number(session.readVariable('v')[0])];
  } finally {
    await monitored.close();
  }
}

const addOne = (manager: AsyncFunctionMgr, v: Tensor): Op =>
  manager.addAsyncFunction((x: Tensor) => assignAdd(v, x), [constant(v.graph, 1)]);

t.test('AsyncManagerTest.testBasic', async (t) => {
  t.same(await valueAfter(addOne, { steps: 2 }), [1, 2]);
  t.same(await valueAfter(addOne, { steps: 1 }), [0, 1]);
  t.same(await valueAfter(addOne, { steps: 7 }), [6, 7], 'after n runs n - 1 times, after the end n times');
});

t.test('AsyncManagerTest.testSync', async (t) => {
  t.same(await valueAfter(addOne, { isAsync: false, steps: 1 }), [1, 1]);
});

t.test('AsyncManagerTest.testEmptyInput', async (t) => {
  const empty = (manager: AsyncFunctionMgr, v: Tensor) =>
    manager.addAsyncFunction(() => assignAdd(v, constant(v.graph, 1)));
  t.same(await valueAfter(empty, { steps: 2 }), [1, 2]);
});

t.test('lists, dictionaries and keyword arguments come as they went in', async (t) => {
  const nested = (manager: AsyncFunctionMgr, v: Tensor) => {
    const { graph } = v;
    const target = ([a]: Tensor[], factor: number, { b }: { b: { c: Tensor } }) =>
      assignAdd(v, scale(add(a!, b.c), factor));
    return manager.addAsyncFunction(target, [[constant(graph, 1)], 10], {
      b: { c: constant(graph, 2), d: 'name', e: null },
    });
  };
  t.same(await valueAfter(nested, { steps: 2 }), [30, 60]);
});

t.test('no order of hooks makes one wait for another', async (t) => {
  const other: TrainHook = { beforeRun: async () => undefined, afterRun: async () => undefined };
  for (const [before, after] of [
    [[other], []],
    [[], [other]],
    [[other], [other]],
  ] as const) {
    t.same(await valueAfter(addOne, { steps: 3, before, after }), [2, 3]);
  }
});

t.test('an op that the queue and the function both need is refused', async (t) => {
  const graph = new Graph();
  const v = zero(graph, 'v');
  const counted = increment(globalStep(graph)) as Op;
  const manager = new AsyncFunctionMgr();
  const late = graph.controlDependencies([counted], () => scale(v, 1));
  t.throws(() => manager.addAsyncFunction(() => counted, [late]), { code: 'ML_OPS_DEPENDENCE', message: /run twice/ });
  const x = placeholder(graph, { name: 'x' });
  t.throws(() => manager.addAsyncFunction((y: Tensor) => y, [x]), {
    code: 'ML_GRAPH',
    message: /reduce it over the batch/,
  });
  t.throws(() => manager.addAsyncFunction(() => []), { code: 'ML_GRAPH', message: /no op to run/ });
});

for (const backend of BACKENDS) {
  t.test(`three runs with postpush: two dense updates, three embedding updates (${backend})`, async (t) => {
    const graph = new Graph();
    const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 });
    const segment = { dim: 3, initializer: OnesInitializer(), optimizer: SgdOptimizer({ learningRate: 1 }) };
    const table = defineTable('t', [segment]);
    const lookup = embeddingLookup(ids, table);
    const w = variable(graph, { name: 'w', shape: [], initial: () => Float32Array.of(1) });
    const manager = new AsyncFunctionMgr();
    const train = applyGradientsWithVarOptimizer({
      loss: add(reduceSum(lookup), w),
      varOptimizer: new GradientDescentOptimizer({ learningRate: 1 }),
      featureColumns: [lookup],
      globalStep: globalStep(graph),
      asyncFunctionMgr: manager,
    });
    const createSession = () => openSession(graph, { backend, batchSize: 1, threads: 2 });
    const monitored = await MonitoredSession.create({ graph, hooks: manager.hooks, createSession });
    const { session } = monitored;
    for (let step = 0; step < 3; step++) await monitored.run([train], { ids: raggedOf([[7n]]) });
    const row = () => [...HashTable.of(session, table).lookup(BigInt64Array.of(7n))];
    t.same([[...session.readVariable('w')], row(), session.globalStep], [[-1], [-2, -2, -2], 3]);
    await monitored.end();
    t.same([...session.readVariable('w')], [-2], 'the end has the rest');
    t.same(row(), [-2, -2, -2]);
    await monitored.close();
  });
}

/** Steps of a small dense model whose gradients are applied one step late; the weights after each. */
async function lateSteps(threads: number, steps: number, way: 'postpush' | 'by hand') {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 40 });
  const initial = () => Float32Array.from({ length: 40 * 70 }, (_, i) => Math.sin(i));
  const w = variable(graph, { name: 'w', shape: [40, 70], initial });
  const loss = reduceMean(mul(matMul(x, w), matMul(x, w)));
  const [grad] = gradients([loss], [w]);
  const optimizer = new AdamOptimizer({ learningRate: 0.1 });
  const manager = new AsyncFunctionMgr();
  // By hand: a step fetches its gradient, and the step after applies it from a feed that all examples share.
  const fed = variable(graph, {
    name: 'fed',
    shape: [40, 70],
    initial: () => new Float32Array(40 * 70),
    trainable: false,
  });
  const apply =
    way === 'postpush'
      ? manager.addAsyncFunction((g: Tensor) => applyGradients([[g, w]], optimizer), [grad!])
      : group(graph, applyGradients([[fed, w]], optimizer));
  const createSession = () => openSession(graph, { batchSize: 16, threads, deterministic: true });
  const monitored = await MonitoredSession.create({ graph, hooks: manager.hooks, createSession });
  const { session } = monitored;
  const weights: Float32Array[] = [];
  let last: Float32Array | undefined;
  for (let step = 0; step < steps; step++) {
    const feeds = { x: Float32Array.from({ length: 16 * 40 }, (_, i) => Math.cos(i + step)) };
    if (way === 'postpush') await monitored.run([apply], feeds);
    else {
      const [next] = await monitored.run([grad!], feeds);
      if (last !== undefined) {
        session.writeVariable('fed', last);
        await monitored.run([apply]);
      }
      last = (next as Float32Array).slice();
    }
    weights.push((session.readVariable('w') as Float32Array).slice());
  }
  await monitored.close();
  return weights;
}

t.test('postpush steps a variable as one that gets each gradient a step late, for any number of threads', async (t) => {
  const expected = await lateSteps(1, 6, 'by hand');
  for (const threads of [1, 2, 3]) t.same(await lateSteps(threads, 6, 'postpush'), expected, `${threads} threads`);
});
