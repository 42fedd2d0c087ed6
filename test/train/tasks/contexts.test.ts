/** @file The contexts of tasks: each holds for a call and what it awaits, and for nothing else. */

import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { DummyFeatureFactory } from '../../../src/feature/model/dummy-feature-factory.js';
import { Graph } from '../../../src/graph/graph.js';
import { placeholder } from '../../../src/graph/ops/state.js';
import type { Session } from '../../../src/runtime/session/session.js';
import { AsyncFunctionMgr } from '../../../src/train/async-function-mgr.js';
import {
  currentGraph,
  getMeta,
  isDryRun,
  isDryRunOrExporting,
  withBuildContext,
} from '../../../src/train/tasks/build-context.js';
import {
  getCurrentSession,
  SetCurrentSessionHook,
  withSessionScope,
} from '../../../src/train/tasks/current-session.js';
import {
  EXPORT_MODE,
  ExportContext,
  enterExportMode,
  getCurrentExportContext,
  isExporting,
  isExportingDistributed,
  isExportingStandalone,
} from '../../../src/train/tasks/export-context.js';
import { NativeContext } from '../../../src/train/tasks/native-context.js';
import {
  getNativeTaskContext,
  isChief,
  makeNativeTaskContext,
  type RoleConfig,
  withNativeTaskContext,
} from '../../../src/train/tasks/native-task-context.js';
import { getDefaultParserCtx, isFusedLayout, ParserCtx, withParserCtx } from '../../../src/train/tasks/parser-ctx.js';

const ROLE: RoleConfig = { serverType: 'worker', index: 2, numPs: 3, numWorkers: 4, modelName: 'm' };

t.test('the task context is that of the scope around the call, also after it has waited', async (t) => {
  const none = getNativeTaskContext();
  t.same(none, {
    numPs: 0,
    psIndex: 0,
    numWorkers: 1,
    workerIndex: 0,
    modelName: '',
    syncBackend: null,
    serverType: '',
  });
  const worker = makeNativeTaskContext(ROLE);
  t.match(worker, { numPs: 3, psIndex: 0, numWorkers: 4, workerIndex: 2, modelName: 'm', serverType: 'worker' });
  t.match(makeNativeTaskContext({ ...ROLE, serverType: 'ps' }), { psIndex: 2, workerIndex: 0 });
  const seen = await Promise.all(
    [worker, makeNativeTaskContext({ ...ROLE, modelName: 'other' })].map((context) =>
      withNativeTaskContext(context, async () => {
        await sleep(1);
        return getNativeTaskContext().modelName;
      }),
    ),
  );
  t.same(seen, ['m', 'other'], 'two at once');
  t.throws(() =>
    withNativeTaskContext(worker, () => {
      throw new Error('a model function failed');
    }),
  );
  t.equal(getNativeTaskContext(), none, 'nothing is left of it');
});

t.test('the chief is worker 0, or rank 0 of workers in step', async (t) => {
  t.teardown(() => {
    delete process.env.OMPI_COMM_WORLD_RANK;
  });
  t.equal(isChief({ ...ROLE, index: 0 }), true);
  t.equal(isChief(ROLE), false);
  t.equal(isChief({ ...ROLE, index: 0, serverType: 'ps' }), false);
  const inStep = { ...ROLE, enableSyncTraining: true };
  t.equal(isChief(inStep), true, 'without MPI the rank is 0');
  process.env.OMPI_COMM_WORLD_RANK = '1';
  t.equal(isChief(inStep), false);
  t.equal(isChief({ ...ROLE, index: 0, enablePartialSyncTraining: true }), false);
});

t.test("export mode can't be nested", async (t) => {
  t.same(EXPORT_MODE, { NONE: 0, STANDALONE: 1, DISTRIBUTED: 2 });
  t.equal(isExporting(), false);
  const context = new ExportContext('DISTRIBUTED', { withRemoteGpu: true });
  const graph = new Graph();
  context.subGraphs.set('ps_0', graph);
  const x = placeholder(graph, { name: 'x' });
  context.addSignature('ps_0', 'lookup', { inputs: { x }, outputs: {} });
  enterExportMode(context, () => {
    t.equal(getCurrentExportContext(), context);
    t.same([isExporting(), isExportingDistributed(), isExportingStandalone()], [true, true, false]);
    t.same([...context.signatures('ps_0').keys()], ['lookup']);
    t.same([...context.signatures('ps_1').keys()], []);
    t.throws(() => enterExportMode(new ExportContext('STANDALONE'), () => 0), {
      code: 'ML_TASK',
      message: "export mode can't be nested",
    });
  });
  t.equal(isExporting(), false);
});

t.test('parser contexts stack, and there is one outside of all', async (t) => {
  const outer = getDefaultParserCtx();
  t.equal(getDefaultParserCtx(), outer);
  t.equal(isFusedLayout(), false);
  withParserCtx(new ParserCtx({ enableFusedLayout: true }), () => {
    t.equal(isFusedLayout(), true);
    withParserCtx(new ParserCtx(), () => t.equal(isFusedLayout(), false));
    getDefaultParserCtx().set('dataset_worker_idx', 1);
    t.equal(getDefaultParserCtx().get('dataset_worker_idx'), 1);
  });
  t.equal(getDefaultParserCtx(), outer);
  t.equal(outer.get('dataset_worker_idx'), undefined);
  t.throws(() => new ParserCtx({ fused: true } as never), { code: 'ML_OPTION' });
});

t.test('the graph at hand is that of the model function, and its dry run shows', async (t) => {
  t.equal(isDryRun(), false);
  t.throws(() => currentGraph(), { code: 'ML_TASK', message: 'no graph is being built' });
  const graph = new Graph();
  withBuildContext({ graph, dryRun: true }, () => {
    t.equal(currentGraph(), graph);
    t.equal(isDryRunOrExporting(), true);
    const made = getMeta('key', () => ({}));
    t.equal(
      getMeta('key', () => ({})),
      made,
    );
    withBuildContext({ graph: new Graph(), dryRun: false }, () => t.equal(isDryRun(), false));
  });
  enterExportMode(new ExportContext('STANDALONE'), () => t.equal(isDryRunOrExporting(), true));
});

t.test('the current session is that of the training around the call', async (t) => {
  t.throws(() => getCurrentSession(), { code: 'ML_TASK', message: 'there is no current session' });
  const [one, two] = [{}, {}] as Session[];
  const seen = await Promise.all(
    [one, two].map((session) =>
      withSessionScope(async () => {
        const hook = new SetCurrentSessionHook();
        hook.afterCreateSession(session!);
        await sleep(1);
        const found = getCurrentSession();
        hook.close();
        t.throws(() => getCurrentSession(), { code: 'ML_TASK' });
        return found;
      }),
    ),
  );
  t.equal(seen[0], one);
  t.equal(seen[1], two);
  const hook = new SetCurrentSessionHook();
  hook.afterCreateSession(one!);
  t.equal(
    withSessionScope(() => getCurrentSession()),
    one,
    'the default session',
  );
  hook.close();
});

t.test('a task has one factory, and says what it lacks', async (t) => {
  const graph = new Graph();
  const [features, layouts] = [new DummyFeatureFactory(1, graph), new DummyFeatureFactory(1, graph)];
  t.throws(() => new NativeContext({ featureFactory: features, layoutFactory: layouts }), {
    code: 'ML_TASK',
    message: 'Cannot set feature_factory and layout_factory in the same time',
  });
  const empty = new NativeContext();
  t.throws(() => empty.createFeatureSlot({ name: 'a' }), { code: 'ML_TASK', message: /no feature factory/ });
  t.throws(() => empty.addAsyncFunction(() => []), { code: 'ML_TASK', message: /no manager/ });
  const context = new NativeContext({ layoutFactory: layouts, asyncFunctionMgr: new AsyncFunctionMgr(false) });
  context.createFeatureSlot({ name: 'a' });
  t.same([...layouts.slots.keys()], ['a']);
  t.same(context.applyEmbeddingGradients([]).inputs, []);
  const op = features.applyGradients();
  t.equal(
    context.addAsyncFunction(() => op),
    op,
  );
});
