/** @file Training with rows that are read ahead and gradients that go out late: orders, stores, resumes, failures. */
import { join } from 'node:path';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { LocalRows, type RowLease, type RowStore } from '../../src/runtime/session/row-store.js';
import { Session, type SessionOptions } from '../../src/runtime/session/session.js';
import { decodeSnapshot, snapshotRing } from '../../src/trace/read-ring.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import { treeOf } from '../checkpoint/helpers.js';
import { loadBatches, smallSession, trainFfm } from './ffm-run.js';

const DETERMINISTIC = { deterministic: true } as const;

/** Notes what is asked of it, and has the session do it. */
class NotedRows extends LocalRows {
  readonly calls: string[] = [];

  override async pull(lease: RowLease): Promise<void> {
    this.calls.push(`pull ${lease.index}`);
    await super.pull(lease);
  }

  override async push(lease: RowLease): Promise<void> {
    this.calls.push(`push ${lease.index}`);
    await super.push(lease);
  }
}

/** What is no LocalRows is called in every step. */
function noted(): RowStore & { readonly calls: readonly string[] } {
  const rows = new NotedRows();
  return { calls: rows.calls, pull: (lease) => rows.pull(lease), push: (lease) => rows.push(lease) };
}

/** Rows of FFM as plain numbers outside of the session, stepped by plain SGD. */
class MapRows implements RowStore {
  // It has everything at hand: it answers at once.
  readonly rows = new Map<string, Float32Array>();
  readonly #rate: number;

  constructor(rate: number) {
    this.#rate = rate;
  }

  pull({ tables }: RowLease): void {
    for (const { name, dim, stride, parts } of tables) {
      for (const { ids, rows } of parts) {
        ids.forEach((id, i) => {
          rows.set(this.rows.get(`${name} ${id}`) ?? new Float32Array(dim), i * stride);
        });
      }
    }
  }

  push({ tables }: RowLease): void {
    for (const { name, dim, stride, parts } of tables) {
      for (const { ids, trained, gradients } of parts) {
        for (let i = 0; i < trained; i++) {
          const key = `${name} ${ids[i]}`;
          const row = this.rows.get(key) ?? new Float32Array(dim);
          for (let c = 0; c < dim; c++) row[c]! -= this.#rate * gradients[i * stride + c]!;
          this.rows.set(key, row);
        }
      }
    }
  }
}

t.test('a cut step gives the losses of one in one piece, whoever brings the rows', async (t) => {
  for (const backend of ['wasm', 'reference'] as const) {
    const wanted = await trainFfm({ steps: 12, session: { ...DETERMINISTIC, backend } });
    for (const rows of [new LocalRows(), noted()]) {
      t.same(await trainFfm({ steps: 12, session: { ...DETERMINISTIC, backend, threads: 2, rows } }), wanted);
    }
  }
});

t.test('rows are pulled and gradients pushed in the order that prefetch and postpush say', async (t) => {
  const orders: [Partial<SessionOptions>, string[]][] = [
    [{}, ['pull 0', 'push 0', 'pull 0', 'push 0', 'pull 0', 'push 0']],
    [{ prefetch: 1 }, ['pull 0', 'pull 1', 'push 0', 'pull 0', 'push 1', 'push 0']],
    [{ postpush: true }, ['pull 0', 'pull 1', 'push 0', 'pull 0', 'push 1', 'push 0']],
    [{ prefetch: 1, postpush: true }, ['pull 0', 'pull 1', 'pull 2', 'push 0', 'push 1', 'push 2']],
  ];
  for (const [options, order] of orders) {
    const rows = noted();
    const model = buildFfm();
    const trainer = await LocalTrainer.create({
      model,
      session: smallSession({ ...options, rows }),
      modelDir: null,
      steps: 10,
    });
    const batches = loadBatches(trainer.session).slice(0, 3);
    const next = () => {
      const batch = batches.shift();
      if (batch === undefined) throw new MonolithError('ML_OUT_OF_RANGE', { source: 'test' });
      return batch;
    };
    await trainer.train({ next, batchesAhead: 3 });
    t.equal(trainer.session.globalStep, 3);
    t.same(rows.calls, order, JSON.stringify(options));
    await trainer.close();
  }
});

t.test('with a prefetch of c rows miss the last c updates, with postpush c + 1', async (t) => {
  for (const [prefetch, postpush] of [
    [0, false],
    [1, false],
    [2, false],
    [0, true],
    [1, true],
    [2, true],
  ] as const) {
    let [pulls, pushes] = [0, 0];
    const missed: number[] = [];
    const local = new LocalRows();
    const rows: RowStore = {
      pull: (lease) => {
        missed.push(pulls++ - pushes);
        return local.pull(lease);
      },
      push: (lease) => {
        pushes++;
        return local.push(lease);
      },
    };
    await trainFfm({ steps: 8, session: { prefetch, postpush, rows } });
    t.equal(missed.at(-1), prefetch + (postpush ? 1 : 0), JSON.stringify({ prefetch, postpush }));
    t.equal(pushes, 8, 'nothing is left when training ends');
  }
});

t.test('a resumed run equals one that was not interrupted, at the same saves', async (t) => {
  for (const options of [
    { prefetch: 1 },
    { prefetch: 2, postpush: true },
    { postpush: true },
    { prefetch: 1, postpush: true, rows: noted() },
  ] as const) {
    const [dir, whole] = [join(t.testdir(), 'resumed'), join(t.testdir(), 'whole')];
    const first = await trainFfm({ steps: 10, modelDir: dir, session: { ...DETERMINISTIC, ...options } });
    const rest = await trainFfm({ steps: 10, modelDir: dir, session: { ...DETERMINISTIC, ...options, threads: 3 } });
    const model = buildFfm();
    const trainer = await LocalTrainer.create({
      model,
      session: smallSession({ ...DETERMINISTIC, ...options }),
      modelDir: whole,
      steps: 20,
      saveEverySteps: 10,
    });
    const batches = loadBatches(trainer.session);
    let next = 0;
    await trainer.train({ next: () => batches[next++ % batches.length]!, batchesAhead: Number.POSITIVE_INFINITY });
    await trainer.close();
    t.equal(first.length + rest.length, 20);
    const files = (root: string) =>
      Object.entries(treeOf(root)).filter(([name]) => /model\.ckpt-20\.(data|assets)/.test(name));
    const resumed = files(dir);
    t.ok(resumed.length > 1);
    t.same(resumed, files(whole), JSON.stringify(options));
  }
});

t.test('rows may be kept outside of the session altogether', async (t) => {
  const rows = new MapRows(0.1);
  const losses = await trainFfm({ steps: 40, session: { rows, prefetch: 1, postpush: true } });
  t.ok(rows.rows.size > 20, `${rows.rows.size} rows`);
  t.ok(losses.slice(-8).reduce((a, b) => a + b) < losses.slice(0, 8).reduce((a, b) => a + b), 'it learns from them');
});

t.test('a store that fails or does not answer ends the run with its error', async (t) => {
  const local = new LocalRows();
  const lost = new MonolithError('ML_ABORTED', { reason: 'the shard is gone' });
  const never = () => new Promise<void>(() => {});
  const stores: [string, RowStore, Partial<SessionOptions>, MonolithError | { code: string; message: RegExp }][] = [
    ['pull', { pull: () => Promise.reject(lost), push: (lease) => local.push(lease) }, {}, lost],
    ['push', { pull: (lease) => local.pull(lease), push: () => Promise.reject(lost) }, { postpush: true }, lost],
    [
      'at once',
      {
        pull: () => {
          throw lost;
        },
        push: never,
      },
      {},
      lost,
    ],
    ['pull ahead', { pull: () => Promise.reject(lost), push: (lease) => local.push(lease) }, { prefetch: 2 }, lost],
    [
      'no answer',
      { pull: never, push: never },
      { stepTimeoutMs: 300 },
      { code: 'ML_TIMEOUT', message: /the rows of a step/ },
    ],
  ];
  for (const [name, rows, options, error] of stores) {
    await t.rejects(trainFfm({ steps: 5, session: { ...options, rows } }), error, name);
  }
});

t.test('what cannot be is refused with a reason', async (t) => {
  const push = async () => undefined;
  for (const rows of [{}, { push }, { pull: push }, { pull: 1, push }, 3, null, 'local'] as unknown as RowStore[]) {
    await t.rejects(Session.create(buildFfm().graph, smallSession({ rows })), {
      code: 'ML_OPTION',
      message: /Session\.create: it has no method (pull|push)/,
      hint: /pull\(lease, deadline\)/,
    });
  }
  for (const prefetch of [-1, 1.5, 17]) {
    await t.rejects(Session.create(buildFfm().graph, smallSession({ prefetch })), { code: 'ML_FLAG' });
  }
  const trainer = await LocalTrainer.create({
    model: buildFfm(),
    session: smallSession({ prefetch: 2 }),
    modelDir: null,
    steps: 5,
  });
  const [batch] = loadBatches(trainer.session);
  await t.rejects(trainer.train({ next: () => batch!, batchesAhead: 2 }), {
    code: 'ML_FLAG',
    message: /keeps 2 of its batches, and 3 are needed/,
  });
  await trainer.close();
});

t.test('an input that is trained on again goes on where it was, whatever was read ahead', async (t) => {
  const trainer = await LocalTrainer.create({
    model: buildFfm(),
    session: smallSession({ prefetch: 2 }),
    modelDir: null,
    steps: 100,
  });
  const batches = loadBatches(trainer.session);
  const taken: number[] = [];
  let [next, ends] = [0, 4];
  const input = {
    next: () => {
      if (next === ends) throw new MonolithError('ML_OUT_OF_RANGE', { source: 'test' });
      taken.push(next);
      return batches[next++]!;
    },
    batchesAhead: 8,
  };
  await trainer.train(input);
  t.equal(trainer.session.globalStep, 4, 'the last batches of an input are trained on too');
  ends = 8;
  await trainer.train(input);
  t.equal(trainer.session.globalStep, 8);
  t.same(taken, [0, 1, 2, 3, 4, 5, 6, 7]);
  await trainer.close();
});

t.test('an evaluation between steps sees every update', async (t) => {
  const model = buildFfm();
  const session = await Session.create(model.graph, smallSession({ ...DETERMINISTIC, postpush: true }));
  const plain = await Session.create(model.graph, smallSession(DETERMINISTIC));
  const [batches, same] = [loadBatches(session), loadBatches(plain)];
  await session.runSteps([model.trainOp], [batches[0]!]);
  await plain.runSteps([model.trainOp], [same[0]!]);
  t.same(await session.run([model.pred], batches[0]!), await plain.run([model.pred], same[0]!));
  await session.close();
  await plain.close();
});

t.test('the trace has how many batches are ahead, the parts of steps, and the waits for rows', async (t) => {
  const model = buildFfm();
  const session = await Session.create(model.graph, smallSession({ prefetch: 1, rows: noted(), traceEvents: 256 }));
  const batches = loadBatches(session);
  await session.runSteps([model.trainOp], batches.slice(0, 1), batches.slice(1, 2));
  const { names, threads } = session.trace;
  const events = threads.flatMap(({ ring }) => decodeSnapshot(snapshotRing(ring)));
  const met = new Set(events.map(({ nameId }) => names.get(nameId).name));
  for (const name of ['batches ahead', 'wait for rows', 'ids', 'pull rows', 'push gradients'])
    t.ok(met.has(name), name);
  await session.close();
});
