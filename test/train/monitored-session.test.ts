import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import type { Graph, Tensor } from '../../src/graph/graph.js';
import { constant } from '../../src/graph/ops/state.js';
import type { FetchValue } from '../../src/runtime/session/fetch.js';
import { type Fetch, Session } from '../../src/runtime/session/session.js';
import type { Coordinator } from '../../src/train/hooks/coordinator.js';
import type { RunContext, TrainHook } from '../../src/train/hooks/hook.js';
import type { ModelSpec } from '../../src/train/model-spec.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { BATCH_SIZE, loadBatches, smallSession } from './ffm-run.js';

type Watch = (call: string, context?: RunContext) => void;

/** Writes down every call with its name, and fails or stops where it is told to. */
class LoggedHook implements TrainHook {
  readonly values: (readonly FetchValue[])[] = [];
  readonly #name: string;
  readonly #log: string[];
  readonly #fetches: readonly Fetch[];
  readonly #at: Watch;

  constructor(name: string, log: string[], fetches: readonly Fetch[] = [], at: Watch = () => {}) {
    this.#name = name;
    this.#log = log;
    this.#fetches = fetches;
    this.#at = at;
  }

  #call(call: string, context?: RunContext): void {
    this.#log.push(`${this.#name} ${call}`);
    this.#at(call, context);
  }

  begin(graph: Graph): void {
    if (graph.finalized) throw new Error('the graph is final too early');
    this.#call('begin');
  }

  afterCreateSession(session: Session, coordinator: Coordinator): void {
    if (!session.graph.finalized || coordinator.shouldStop) throw new Error('the session came too early');
    this.#call('afterCreateSession');
  }

  beforeRun(context: RunContext): readonly Fetch[] {
    this.#call(`beforeRun ${context.globalStep}`, context);
    return this.#fetches;
  }

  async afterRun(context: RunContext, values: readonly FetchValue[]): Promise<void> {
    await Promise.resolve();
    this.values.push(values);
    this.#call(`afterRun ${context.globalStep}`, context);
  }

  end(): void {
    this.#call('end');
  }
}

async function open(model: ModelSpec, hooks: readonly TrainHook[]): Promise<MonitoredSession> {
  const createSession = () => Session.create(model.graph, smallSession());
  return await MonitoredSession.create({ graph: model.graph, hooks, createSession });
}

/** Threads of this process that keep it alive: each has a port. */
const openPorts = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;

t.test('hooks are called in the order given, step by step', async (t) => {
  const model = buildFfm();
  const log: string[] = [];
  const hooks = [new LoggedHook('a', log), new LoggedHook('b', log)];
  const before = openPorts();
  const monitored = await open(model, hooks);
  t.ok(openPorts() > before, 'there is a thread to lose');
  const [batch] = loadBatches(monitored.session);
  await monitored.run([model.trainOp], batch);
  await monitored.run([model.trainOp], batch);
  await monitored.close();
  await monitored.close();
  t.same(log, [
    ...['a begin', 'b begin', 'a afterCreateSession', 'b afterCreateSession'],
    ...['a beforeRun 0', 'b beforeRun 0', 'a afterRun 1', 'b afterRun 1'],
    ...['a beforeRun 1', 'b beforeRun 1', 'a afterRun 2', 'b afterRun 2'],
    ...['a end', 'b end'],
  ]);
  await t.rejects(monitored.run([model.trainOp], batch), { code: 'ML_CLOSED' });
  t.equal(openPorts(), before, 'no thread is left');
});

t.test('each hook gets the values it asked for, and the caller its own', async (t) => {
  const model = buildFfm();
  const log: string[] = [];
  const none = new LoggedHook('none', log);
  const loss = new LoggedHook('loss', log, [model.loss]);
  const both = new LoggedHook('both', log, [model.pred, model.loss]);
  const monitored = await open(model, [loss, none, both]);
  t.teardown(() => monitored.close());
  const [batch] = loadBatches(monitored.session);
  const [pred, trained] = await monitored.run([model.pred, model.trainOp], batch);
  t.equal((pred as Float32Array).length, BATCH_SIZE);
  t.equal(trained, undefined);
  t.same(none.values, [[]]);
  t.same(both.values, [[pred, loss.values[0]![0]]]);
  t.ok((loss.values[0]![0] as number) > 0);
});

t.test('fetches may differ from step to step', async (t) => {
  const model = buildFfm();
  const seen: (readonly FetchValue[])[] = [];
  const every: readonly Fetch[] = [model.loss];
  const hook: TrainHook = {
    beforeRun: ({ globalStep }) => (globalStep % 2 === 0 ? every : undefined),
    afterRun: (_, values) => {
      seen.push(values);
    },
  };
  const monitored = await open(model, [hook, { beforeRun: () => every }]);
  t.teardown(() => monitored.close());
  const [batch] = loadBatches(monitored.session);
  for (let step = 0; step < 4; step++) await monitored.run([model.trainOp], batch);
  t.same(
    seen.map((values) => values.length),
    [1, 0, 1, 0],
  );
});

t.test('the graph takes additions in begin and none later', async (t) => {
  const model = buildFfm();
  let added: Tensor | undefined;
  const hook: TrainHook = {
    begin: (graph) => {
      added = constant(graph, [2.5], { shape: [], name: 'added' });
    },
  };
  const monitored = await open(model, [hook]);
  t.teardown(() => monitored.close());
  t.same(await monitored.run([added!]), [2.5]);
  t.throws(() => constant(model.graph, [1], { shape: [], name: 'late' }), { code: 'ML_GRAPH', message: /final/ });
});

t.test('a stop request ends after the step at hand, and end is called', async (t) => {
  const model = buildFfm();
  const log: string[] = [];
  const stop = new LoggedHook('stop', log, [], (call, context) => {
    if (call.startsWith('afterRun')) context?.requestStop();
  });
  const monitored = await open(model, [stop, new LoggedHook('other', log)]);
  const [batch] = loadBatches(monitored.session);
  await monitored.run([model.trainOp], batch);
  t.equal(monitored.shouldStop, true);
  t.equal(log.at(-1), 'other afterRun 1', 'hooks after the one that stops still hear of the step');
  await t.rejects(monitored.run([model.trainOp], batch), { code: 'ML_CANCELLED' });
  await monitored.close();
  t.same(log.slice(-2), ['stop end', 'other end']);
});

for (const call of ['beforeRun 0', 'afterRun 1'] as const) {
  t.test(`an error in ${call} goes to the caller, end is not called, the session is closed`, async (t) => {
    const model = buildFfm();
    const log: string[] = [];
    const failure = new Error('no');
    const bad = new LoggedHook('bad', log, [], (at) => {
      if (at === call) throw failure;
    });
    const before = openPorts();
    const monitored = await open(model, [bad, new LoggedHook('other', log)]);
    const [batch] = loadBatches(monitored.session);
    await t.rejects(monitored.run([model.trainOp], batch), failure);
    await monitored.close();
    t.equal(log.at(-1), `bad ${call}`);
    t.notOk(log.some((entry) => entry.endsWith(' end')));
    await t.rejects(monitored.session.run([model.loss], batch), { code: 'ML_CLOSED' });
    t.equal(openPorts(), before, 'no thread is left');
  });
}

t.test('an error of the step itself is handled the same', async (t) => {
  const model = buildFfm();
  const log: string[] = [];
  const before = openPorts();
  const monitored = await open(model, [new LoggedHook('a', log)]);
  await t.rejects(monitored.run([model.trainOp]), { code: 'ML_FEED' });
  await monitored.close();
  t.same(log, ['a begin', 'a afterCreateSession', 'a beforeRun 0']);
  t.equal(openPorts(), before, 'no thread is left');
});

t.test('an error before the first step leaves no thread behind', async (t) => {
  const model = buildFfm();
  const before = openPorts();
  const hook: TrainHook = {
    afterCreateSession: async () => {
      throw new MonolithError('ML_CANCELLED', { what: 'the test', reason: 'it is one' });
    },
  };
  await t.rejects(open(model, [hook]), { code: 'ML_CANCELLED' });
  t.equal(openPorts(), before);
});

t.test('hooks are asked once per group of quiet steps', async (t) => {
  const model = buildFfm();
  const log: string[] = [];
  const quiet = Object.assign(new LoggedHook('q', log), { quietSteps: () => 3 });
  const monitored = await open(model, [quiet]);
  t.teardown(() => monitored.close());
  const [batch] = loadBatches(monitored.session);
  for (let group = 0; group < 2; group++) {
    t.equal(await monitored.stepsAheadMax([model.trainOp]), 3);
    await monitored.runSteps([model.trainOp], [batch!, batch!, batch!]);
  }
  t.same(log.slice(2), [
    ...['q beforeRun 0', 'q afterRun 1', 'q afterRun 2', 'q afterRun 3'],
    ...['q beforeRun 3', 'q afterRun 4', 'q afterRun 5', 'q afterRun 6'],
  ]);
});
