import t from 'tap';
import { Graph } from '../../src/graph/graph.js';
import { scale } from '../../src/graph/ops/elementwise.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { placeholder, raggedPlaceholder, variable } from '../../src/graph/ops/state.js';
import { withSession } from './with-session.js';

t.test('a run has the values its feeds had at the call, whether or not runs before it were awaited', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 2 });
  const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 4 });
  const twice = scale(x, 2);
  await withSession(graph, { batchSize: 2, threads: 1 }, async (session) => {
    const values = new Float32Array(4);
    const splits = Int32Array.of(0, 1, 1);
    const feeds = { x: values, ids: { splits, values: BigInt64Array.of(1n) } };
    const runs = Array.from({ length: 20 }, (_, run) => {
      values.fill(run);
      return session.run([twice], feeds);
    });
    values.fill(-1);
    // Damage that a run must not see: rows that point behind the ids.
    splits.fill(9);
    for (const [run, [found]] of (await Promise.all(runs)).entries()) {
      t.same(found, Float32Array.of(2 * run, 2 * run, 2 * run, 2 * run), `run ${run}`);
    }
    splits.set([0, 1, 1]);
    const alone = session.run([twice], feeds);
    values.fill(5);
    t.same((await alone)[0], Float32Array.of(-2, -2, -2, -2), 'one run alone');
    t.equal(ids.op.name, 'ids');
  });
});

t.test('what waits behind a held session runs afterwards, and a failure holds nobody up', async (t) => {
  const graph = new Graph();
  const mean = reduceMean(placeholder(graph, { name: 'x' }));
  await withSession(graph, { batchSize: 1, threads: 1 }, async (session) => {
    const order: string[] = [];
    const held = session.hold(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('held');
      throw new Error('on purpose');
    });
    const run = session.run([mean], { x: Float32Array.of(3) }).then(() => order.push('run'));
    await t.rejects(held, /on purpose/);
    await run;
    t.same(order, ['held', 'run']);
  });
});

t.test('the stack of a run that fails names the function that called it', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x' });
  const mean = reduceMean(x);
  await withSession(graph, { batchSize: 2, threads: 1 }, async (session) => {
    async function feedTooMuch() {
      return await session.run([mean], { x: new Float32Array(9) });
    }
    async function feedNothing() {
      return await session.run({ mean });
    }
    async function runTooManySteps() {
      return await session.runSteps(
        [mean],
        Array.from({ length: 5000 }, () => 0),
      );
    }
    for (const call of [feedTooMuch, feedNothing, runTooManySteps]) {
      const error: unknown = await call().catch((thrown: unknown) => thrown);
      t.match(error, { code: 'ML_FEED', stack: new RegExp(`at (async )?${call.name} .*overlapping-runs`) });
    }
  });
  async function runClosed() {
    const closed = await withSession(graph, { batchSize: 2, threads: 1 }, async (session) => session);
    return await closed.run([mean], { x: new Float32Array(1) });
  }
  const error: unknown = await runClosed().catch((thrown: unknown) => thrown);
  t.match(error, { code: 'ML_CLOSED', stack: /at (async )?runClosed / });
});

t.test('a variable is written whole', async (t) => {
  const graph = new Graph();
  variable(graph, { name: 'w', shape: [2, 2], initial: () => Float32Array.of(1, 2, 3, 4) });
  await withSession(graph, { batchSize: 1, threads: 1 }, async (session) => {
    for (const count of [0, 1, 5]) {
      const message = new RegExp(`w: it has 4 values, \\[2,2\\], and ${count} were given`);
      t.throws(() => session.writeVariable('w', new Float32Array(count).fill(9)), { code: 'ML_GRAPH', message });
    }
    t.same([...session.readVariable('w')], [1, 2, 3, 4]);
  });
});
