import t from 'tap';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import {
  assignAllCachedVariables,
  CACHED_VARIABLES,
  cachedCopiesOf,
  cachedVariableCreator,
  fetchAllCachedVariables,
} from '../../src/graph/cached-variables.js';
import { type DeviceScope, psDevice } from '../../src/graph/device.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { scale } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { assign, assignAdd, constant, placeholder, type VariableAttrs, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import { AdagradOptimizer, SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { FetchAllCachedVariablesHook } from '../../src/train/hooks/fetch-cached-variables.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { BACKENDS, openSession, withSession } from '../runtime/with-session.js';

function cached(graph: Graph, name = 'var', values = [5], device: DeviceScope = '/job:ps/task:1'): Tensor {
  const shape = values.length === 1 ? [] : [values.length, 1];
  return graph.variableCreatorScope(cachedVariableCreator, () =>
    graph.device(device, () => variable(graph, { name, shape, initial: () => Float32Array.from(values) })),
  );
}

// The cases of upstream's variables_test, by their names.

t.test('testBasic', async (t) => {
  for (const backend of BACKENDS) {
    const graph = new Graph();
    const v = cached(graph);
    const read = scale(v, 1);
    const add = assignAdd(v, constant(graph, [2], { shape: [] }));
    const fetch = fetchAllCachedVariables(graph);
    const assign = assignAllCachedVariables(graph);
    await withSession(graph, { backend }, async (session) => {
      t.equal(await session.run(read), 5);
      await session.run([add]);
      t.same(await session.run([read, v]), [5, 7], 'ops read the copy, a fetch the variable');
      await session.run([fetch]);
      t.equal(await session.run(read), 5, 'what was fetched is not read yet');
      await session.run([assign]);
      t.same(await session.run([read, v]), [7, 7]);
    });
  }
});

t.test('testHook', async (t) => {
  const graph = new Graph();
  const v = cached(graph);
  const read = scale(v, 1);
  const lower = assignAdd(v, constant(graph, [-2], { shape: [] }));
  const hooks = [new FetchAllCachedVariablesHook()];
  const createSession = async () => {
    const session = await openSession(graph);
    session.writeVariable('var', Float32Array.of(6)); // as a restore does
    return session;
  };
  const monitored = await MonitoredSession.create({ graph, hooks, createSession });
  t.teardown(() => monitored.close());
  t.equal(await monitored.run(read), 6, 'the first step reads what was restored');
  await monitored.run([lower]);
  t.equal(await monitored.run(read), 6, 'it is fetched beside this step');
  t.equal(await monitored.run(read), 4);
});

t.test('an assignment is about the variable, what it reads is the copy', async (t) => {
  const graph = new Graph();
  const v = cached(graph, 'var', [5, 6]);
  const set = assign(v, scale(v, 2)); // the copy times two
  const { asyncCachedVar } = cachedCopiesOf(v)!;
  t.equal(set.inputs[1], v);
  t.equal(assign(asyncCachedVar, v).inputs[0]!.op.type, 'CachedValue', 'a value is read from the copy');
  await withSession(graph, {}, async (session) => {
    await session.run([set]);
    await session.run([set]);
    t.same([...session.readVariable('var')], [10, 12], 'twice the same: the copy has not moved');
  });
});

t.test('testGradient', async (t) => {
  const graph = new Graph();
  const v = cached(graph);
  const [gradient] = gradients([v], [v]);
  const [train] = applyGradients([[gradient!, v]], SgdOptimizer({ learningRate: 1 }));
  const read = scale(v, 1);
  await withSession(graph, {}, async (session) => {
    await session.run([train!]);
    t.same(await session.run([v, read]), [4, 5], 'the variable has moved, its copy has not');
  });
});

t.test('gradients go to the variable, and a step reads what was there one step before', async (t) => {
  for (const [backend, threads] of [...BACKENDS.map((name) => [name, 3] as const), ['wasm', 1] as const]) {
    const graph = new Graph();
    const x = placeholder(graph, { name: 'x', width: 40 });
    const start = Array.from({ length: 40 }, (_, i) => i);
    const w = cached(graph, 'w', start, psDevice(0));
    const y = matMul(x, w);
    const loss = reduceMean(y);
    const [gradient] = gradients([loss], [w]);
    const [train] = applyGradients([[gradient!, w]], SgdOptimizer({ learningRate: 1 }));
    const hooks = [new FetchAllCachedVariablesHook()];
    const monitored = await MonitoredSession.create({
      graph,
      hooks,
      createSession: () => openSession(graph, { backend, threads }),
    });
    // The gradient of every weight is 1, so that each step lowers a dot product of ones by 40.
    const feeds = { x: new Float32Array(80).fill(1) };
    const sum = start.reduce((total, value) => total + value, 0);
    const losses: unknown[] = [];
    for (let step = 0; step < 4; step++) losses.push((await monitored.run({ loss, train: train! }, feeds)).loss);
    t.same(losses, [sum, sum, sum - 40, sum - 80], `${backend}, ${threads} threads`);
    t.same(
      [...monitored.session.readVariable('w')],
      start.map((value) => value - 4),
    );
    await monitored.close();
  }
});

t.test('a variable that would be where its copies are is left alone', async (t) => {
  const graph = new Graph();
  const v = cached(graph, 'v', [5], null);
  t.same(graph.getCollection(CACHED_VARIABLES), []);
  t.equal(cachedCopiesOf(v), undefined);
  t.equal(scale(v, 1).op.inputs[0], v);
  const hook = new FetchAllCachedVariablesHook();
  hook.begin(graph);
  t.equal(hook.quietSteps(), Number.POSITIVE_INFINITY, 'steps do not pause for it');
  t.same(hook.beforeRun(), []);
});

t.test('copies are local: on no device, in no checkpoint, not trainable', async (t) => {
  const graph = new Graph();
  const device = '/job:worker/task:3/device:GPU:0';
  const v = graph.nameScope('model', () => graph.device('/job:ps', () => cached(graph, 'v', [1, 2], '/task:2')));
  const far = cached(graph, 'far', [3], device);
  t.same([v.op.device, far.op.device], ['/job:ps/task:2', device]);
  const { asyncCachedVar, asyncFetchedVar } = cachedCopiesOf(v)!;
  t.same(
    [asyncCachedVar, asyncFetchedVar].map(({ op }) => [op.name, op.device, (op.attrs as VariableAttrs).trainable]),
    [
      ['model/v/async_cached', '', false],
      ['model/v/async_fetched', '', false],
    ],
  );
  const fetch = fetchAllCachedVariables(graph);
  t.same(
    fetch.controlInputs.map(({ name }) => name),
    ['fetch_from__job_ps_task_2', 'fetch_from__job_worker_task_3_device_GPU_0'],
  );
  t.equal(assignAllCachedVariables(graph).name, 'assign_all_cached_variables');
  await withSession(graph, {}, async (session) => {
    t.same(
      snapshotSession(session, 'm').dense.map(({ name }) => name),
      ['model/v', 'far'],
    );
  });
});

t.test('slots of an optimizer may be cached too', async (t) => {
  const graph = new Graph();
  const v = cached(graph);
  const step = graph.variableCreatorScope(cachedVariableCreator, () =>
    graph.device(psDevice(1), () =>
      applyGradients(
        [[constant(graph, [2], { shape: [] }), v]],
        AdagradOptimizer({ learningRate: 1, initialAccumulatorValue: 0 }),
      ),
    ),
  );
  t.equal(graph.getCollection(CACHED_VARIABLES).length, 2);
  await withSession(graph, {}, async (session) => {
    await session.run(step);
    t.same(await session.run([v]), [4]);
    t.same([...session.readVariable('var/Adagrad')], [4]);
  });
});

t.test('what cannot be cached is refused in the words of the reference', async (t) => {
  const graph = new Graph();
  const twice = () => graph.variableCreatorScope(cachedVariableCreator, () => cached(graph));
  t.throws(twice, {
    code: 'ML_CACHED_TWICE',
    message: 'The variable has already been cached. Consider about removing cache_device.',
  });
  const other = () =>
    graph.variableCreatorScope(cachedVariableCreator, () =>
      graph.variableCreatorScope(
        () => constant(graph, [1], { shape: [] }),
        () => variable(graph, { name: 'w', shape: [], initial: () => new Float32Array(1) }),
      ),
    );
  t.throws(() => cachedVariableCreator(() => constant(graph, [1], { shape: [] }), {} as never), {
    code: 'ML_CACHED_TYPE',
    message: 'Only ResourceVariable is supported. Do you disable V2 behavior or use strategy?',
  });
  t.equal(other().op.type, 'Const', 'the innermost creator is asked first, and need not ask the others');
});
