import t from 'tap';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { PERCEPTRON_BATCH, perceptron, perceptronBatch } from '../support/perceptron.js';
import { withSession } from './with-session.js';

const STEPS = 60;

async function trained(options: Partial<SessionOptions>) {
  const { graph, loss, train } = perceptron();
  return withSession(graph, { batchSize: PERCEPTRON_BATCH, ...options }, async (session) => {
    const losses: number[] = [];
    for (let step = 0; step < STEPS; step++)
      losses.push((await session.run([loss, train], perceptronBatch(step)))[0] as number);
    const variables = session.variableNames.map((name) => [
      name,
      Buffer.from(session.readVariable(name).slice().buffer).toString('hex'),
    ]);
    return { losses, variables };
  });
}

const worst = (a: readonly number[], b: readonly number[]) => Math.max(...a.map((x, i) => Math.abs(x - b[i]!)));

t.test('two dense layers learn, with the same bytes for any number of threads in deterministic mode', async (t) => {
  const runs = [];
  for (const threads of [1, 2, 3]) runs.push(await trained({ threads, deterministic: true }));
  const [first, ...others] = runs;
  for (const other of others) t.strictSame(other, first);
  const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  t.ok(mean(first!.losses.slice(-10)) < 0.8 * mean(first!.losses.slice(0, 10)), 'the loss falls');
});

t.test('the plain backend trains to the same losses', async (t) => {
  for (const threads of [1, 2]) {
    const [wasm, plain] = [await trained({ threads }), await trained({ threads, backend: 'reference' })];
    const distance = worst(wasm.losses, plain.losses);
    t.ok(distance <= 1e-6, `losses differ by ${distance}`);
  }
});

t.test('the number of threads changes rounding only, and one number gives one result', async (t) => {
  const [one, two, again] = [
    await trained({ threads: 1 }),
    await trained({ threads: 2 }),
    await trained({ threads: 2 }),
  ];
  t.same(again, two);
  t.ok(worst(one.losses, two.losses) < 1e-5);
});
