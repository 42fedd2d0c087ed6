import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { buildCtr, CTR_SCHEMA } from '../../bench/ctr-models.js';
import { CATEGORIES, DENSE, generateCtr } from '../../bench/ctr-ref.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { LocalRows, type RowStore } from '../../src/runtime/session/row-store.js';
import { Session, type SessionOptions } from '../../src/runtime/session/session.js';
import { BankRows } from '../../src/sparse/many/bank-rows.js';
import { TABLES } from '../../src/sparse/steps/embedding-ops.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import type { ModelSpec } from '../../src/train/model-spec.js';
import { withSession } from '../runtime/with-session.js';
import { PERCEPTRON_BATCH, perceptron, perceptronBatch } from '../support/perceptron.js';
import { trainFfm } from '../train/ffm-run.js';
import { withSimulated } from './simulated.js';

const LOSS_TOLERANCE = 1e-5;
const STEPS = 100;
const CUDA = { backend: 'cuda', cuda: { driver: 'sim' } } as const;
const CPU = { backend: 'wasm', threads: 1, kernels: 'plain' } as const;

const apart = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Math.max(...Array.from(a, (value, index) => Math.abs(value - b[index]!)));

async function trained(options: Partial<SessionOptions>) {
  const { graph, loss, logits, train } = perceptron();
  return withSession(graph, { batchSize: PERCEPTRON_BATCH, ...options }, async (session) => {
    const losses: number[] = [];
    for (let step = 0; step < STEPS; step++)
      losses.push((await session.run([loss, train], perceptronBatch(step)))[0] as number);
    // Another program over the variables as they are now, and one more after they were written from outside.
    const [scores] = await session.run([logits], perceptronBatch(0));
    session.writeVariable('b2', Float32Array.of(5));
    const [moved] = await session.run([logits], perceptronBatch(0));
    const weights = session.readVariable('w1').slice() as Float32Array;
    return { losses, scores: scores as Float32Array, moved: moved as Float32Array, weights, step: session.globalStep };
  });
}

t.test(
  'a small network trains on the GPU as on the CPU',
  withSimulated(async (t) => {
    const [cpu, gpu] = [await trained(CPU), await trained(CUDA)];
    t.ok(apart(gpu.losses, cpu.losses) <= LOSS_TOLERANCE, `losses are ${apart(gpu.losses, cpu.losses)} apart`);
    t.ok(gpu.losses.at(-1)! < gpu.losses[0]!, 'and they fall');
    for (const what of ['scores', 'moved', 'weights'] as const) {
      t.ok(apart(gpu[what], cpu[what]) <= 1e-4, `${what} are ${apart(gpu[what], cpu[what])} apart`);
    }
    t.ok(apart(gpu.moved, gpu.scores) > 1, 'what is written to a variable counts');
    t.equal(gpu.step, STEPS);
  }),
);

t.test(
  'the demo model trains on the GPU as on the CPU, and checkpoints move between them',
  withSimulated(async (t) => {
    const cpu = await trainFfm({ steps: STEPS, session: CPU });
    const gpu = await trainFfm({ steps: STEPS, session: CUDA });
    t.ok(apart(gpu, cpu) <= LOSS_TOLERANCE, `losses are ${apart(gpu, cpu)} apart`);
    for (const [first, then] of [
      [CUDA, CPU],
      [CPU, CUDA],
    ] as const) {
      const modelDir = await mkdtemp(join(tmpdir(), 'cuda-'));
      try {
        const losses = [
          ...(await trainFfm({ steps: 10, session: first, modelDir })),
          ...(await trainFfm({ steps: 10, session: then, modelDir })),
        ];
        t.equal(losses.length, 20);
        t.ok(apart(losses, cpu.slice(0, 20)) <= LOSS_TOLERANCE, `${first.backend}, then ${then.backend}`);
      } finally {
        await rm(modelDir, { recursive: true });
      }
    }
  }),
);

t.test(
  'a cut step gives the losses of one in one piece on the GPU, and a prefetch those of a store that is called',
  withSimulated(async (t) => {
    const local = new LocalRows();
    const called: RowStore = { pull: (lease) => local.pull(lease), push: (lease) => local.push(lease) };
    const whole = await trainFfm({ steps: 20, session: CUDA });
    for (const rows of [local, called, { ...called, owners: 3 }]) {
      t.same(await trainFfm({ steps: 20, session: { ...CUDA, rows } }), whole);
    }
    const tables = buildFfm().graph.getCollection(TABLES);
    const outside = await BankRows.create(tables, { owners: 2, budgetBytes: 8 << 20, seed: 1 });
    t.same(await trainFfm({ steps: 20, session: { ...CUDA, rows: outside } }), whole);
    await outside.close();
    const ahead = { ...CUDA, prefetch: 2, postpush: true };
    const late = await trainFfm({ steps: 20, session: ahead });
    t.notSame(late, whole);
    t.same(await trainFfm({ steps: 20, session: { ...ahead, rows: called } }), late);
    const asks = ({ pred }: ModelSpec): TrainHook[] => [
      { beforeRun: ({ globalStep }) => (globalStep % 3 === 1 ? [pred] : []) },
    ];
    t.same(await trainFfm({ steps: 20, session: ahead, hooks: asks }), late, 'whatever is fetched');
  }),
);

t.test(
  'so does a model with a network over its embeddings',
  withSimulated(async (t) => {
    const { labels, dense, ids } = generateCtr(4 * 32, 3);
    const losses = async (options: Partial<SessionOptions>) => {
      const { graph, loss, trainOp } = buildCtr('deepfm');
      const session = await Session.create(graph, {
        schema: CTR_SCHEMA,
        batchSize: 32,
        memoryBytes: 2 ** 27,
        ...options,
      });
      try {
        const values: number[] = [];
        for (let n = 0; n < 4; n++) {
          const rows = {
            label: labels.slice(n * 32, n * 32 + 32),
            dense: dense.slice(n * 32 * DENSE, (n + 1) * 32 * DENSE),
          };
          const feeds = { ...rows, ids: ids.slice(n * 32 * CATEGORIES, (n + 1) * 32 * CATEGORIES) };
          values.push((await session.run([loss, trainOp], feeds))[0] as number);
        }
        return values;
      } finally {
        await session.close();
      }
    };
    const local = new LocalRows();
    const called: RowStore = { owners: 2, pull: (lease) => local.pull(lease), push: (lease) => local.push(lease) };
    for (const on of [CUDA, CPU]) {
      const whole = await losses(on);
      for (const rows of [local, called]) t.same(await losses({ ...on, rows }), whole);
    }
  }),
);
