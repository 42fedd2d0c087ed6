/** @file What is fetched beside a step changes nothing of it: rows that were read ahead stay as they were read. */
import t from 'tap';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { sigmoid } from '../../src/graph/ops/activations.js';
import { LocalRows, type RowStore } from '../../src/runtime/session/row-store.js';
import { Session, type SessionOptions } from '../../src/runtime/session/session.js';
import { BankRows } from '../../src/sparse/many/bank-rows.js';
import { TABLES } from '../../src/sparse/steps/embedding-ops.js';
import { loadBatches, smallSession } from './ffm-run.js';

const STEPS = 9;

/** Losses of some steps; `beside` are the steps that fetch more than others. */
async function losses(options: Partial<SessionOptions>, beside: (step: number) => boolean): Promise<unknown[]> {
  const model = buildFfm();
  const more = sigmoid(model.pred);
  const session = await Session.create(model.graph, smallSession({ deterministic: true, ...options }));
  try {
    const batches = loadBatches(session);
    const at = (step: number) => batches[step % batches.length]!;
    const found: unknown[] = [];
    for (let step = 0; step < STEPS; step++) {
      const fetches = beside(step) ? [model.trainOp, model.loss, more] : [model.trainOp, model.loss];
      const ahead = [1, 2].map((later) => at(step + later)).slice(0, session.prefetch);
      const [values] = await session.runSteps(fetches, [at(step)], ahead);
      found.push(values![1]);
    }
    return found;
  } finally {
    await session.close();
  }
}

/** Brings rows late, as another machine would. */
function slowRows(owners: number): RowStore {
  const local = new LocalRows();
  return {
    owners,
    pull: async (lease) => {
      await local.pull(lease);
      await new Promise(setImmediate);
    },
    push: (lease) => local.push(lease),
  };
}

for (const [name, options] of [
  ['the threads', {}],
  ['the threads, of tables in several memories', { tableBytes: 2 ** 26, memoryBytes: 2 ** 25, threads: 2 }],
  ['the reference backend', { backend: 'reference' }],
  ['a store of one owner', { rows: slowRows(1) }],
  ['a store of three owners', { rows: slowRows(3), threads: 2 }],
] as const satisfies readonly (readonly [string, Partial<SessionOptions>])[]) {
  t.test(`rows that ${name} read ahead are those of any other fetches`, async (t) => {
    for (const cut of [{ prefetch: 1 }, { prefetch: 2, postpush: true }]) {
      const plain = await losses({ ...options, ...cut }, () => false);
      t.same(await losses({ ...options, ...cut }, (step) => step % 3 === 0), plain, JSON.stringify(cut));
    }
  });
}

t.test('rows of memories outside are those of any other fetches', async (t) => {
  const found = await Promise.all(
    [false, true].map(async (beside) => {
      const rows = await BankRows.create(buildFfm().graph.getCollection(TABLES), { owners: 2, budgetBytes: 16 << 20 });
      try {
        return await losses({ rows, prefetch: 2 }, (step) => beside && step % 2 === 1);
      } finally {
        await rows.close();
      }
    }),
  );
  t.same(found[1], found[0]);
});
