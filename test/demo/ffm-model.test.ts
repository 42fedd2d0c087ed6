import t from 'tap';
import { FFM_SLOT_COUNT } from '../../src/demo/ffm-example.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { TABLES } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { stream } from '../kernels/both.js';
import { raggedOf, withSession } from '../runtime/with-session.js';
import { initialValue } from '../sparse/map-table.js';
import { type PlainBatch, PlainFfm } from './plain-ffm.js';

const BATCH = 24;
const SEED = 11;

/** Up to five ids per feature and example, none at times; features 0 and 2 share ids, all over the 64-bit range. */
function batch(step: number): PlainBatch {
  const next = stream(step * 31 + 5);
  const rows = step % 10 === 9 ? 5 : BATCH;
  const ids = Array.from({ length: FFM_SLOT_COUNT }, (_, slot) =>
    Array.from({ length: rows }, () =>
      Array.from({ length: Math.floor(next() * 6) }, () =>
        BigInt.asIntN(
          64,
          BigInt(slot === 2 ? 0 : slot) * 0x3000000000000001n + BigInt(Math.floor(next() ** 2 * 40)) - 3n,
        ),
      ),
    ),
  );
  // What is learnt: whether the first feature has more ids than the fourth.
  const label = Array.from({ length: rows }, (_, r) => (ids[0]![r]!.length > ids[3]![r]!.length ? 1 : 0));
  return { label, ids };
}

function feedsOf({ label, ids }: PlainBatch) {
  const ragged = ids.map((rows, slot) => [`feature_${slot}`, raggedOf(rows)] as const);
  return { label: Float32Array.from(label), ...Object.fromEntries(ragged) };
}

async function train(steps: number, options: Partial<SessionOptions>) {
  const model = buildFfm();
  return withSession(model.graph, { batchSize: BATCH, seed: SEED, ...options }, async (session) => {
    const losses: number[] = [];
    for (let step = 0; step < steps; step++) {
      losses.push((await session.run([model.loss, model.trainOp], feedsOf(batch(step))))[0] as number);
    }
    const tables = model.graph.getCollection(TABLES).map((config) => ({
      name: config.name,
      rows: [...HashTable.of(session, config).rows()].map(({ id, weights, state }) => [
        id,
        weights.slice(),
        state.slice(),
      ]),
    }));
    return { losses, tables, globalStep: session.globalStep };
  });
}

/** Exact text of everything, so that also the sign of a zero counts. */
function bytes(run: Awaited<ReturnType<typeof train>>): unknown {
  const hex = (value: unknown) => (value instanceof Float32Array ? Buffer.from(value.buffer).toString('hex') : value);
  return { ...run, tables: run.tables.map(({ name, rows }) => [name, rows.map((row) => row.map(hex))]) };
}

const worst = (a: readonly number[], b: readonly number[]) => Math.max(...a.map((x, i) => Math.abs(x - b[i]!)));

t.test('a model written out in plain numbers has the same losses', async (t) => {
  const steps = 50;
  const segment = { initializer: { kind: 'uniform', minval: -0.05, maxval: 0.05 } } as const;
  const plain = new PlainFfm((id, component) => initialValue(segment, SEED, id, component));
  const expected = Array.from({ length: steps }, (_, step) => plain.step(batch(step)));
  t.ok(Math.abs(expected[0]! - Math.log(2)) < 1e-12, 'at first every id is absent and every logit zero');
  t.not(expected.at(-1), expected[0]);
  for (const threads of [1, 2]) {
    const { losses } = await train(steps, { threads });
    const distance = worst(losses, expected);
    t.ok(distance <= 1e-5, `${threads} threads: losses differ by ${distance}`);
  }
});

t.test('WASM and plain TypeScript kernels train alike', async (t) => {
  for (const threads of [1, 2]) {
    const [wasm, plain] = [await train(100, { threads }), await train(100, { threads, backend: 'reference' })];
    const distance = worst(wasm.losses, plain.losses);
    t.ok(distance <= 1e-6, `${threads} threads: losses differ by ${distance}`);
    t.same(
      wasm.tables.map(({ name, rows }) => [name, rows.map(([id]) => id)]),
      plain.tables.map(({ name, rows }) => [name, rows.map(([id]) => id)]),
    );
    t.equal(wasm.globalStep, 100);
  }
});

t.test('deterministic mode gives the same bytes for any number of threads', async (t) => {
  const [first, ...others] = await Promise.all([1, 2, 3].map((threads) => train(40, { threads, deterministic: true })));
  t.equal(first!.tables.length, 4, 'slots 0, 2 and 3 share a table');
  t.ok(first!.tables.every(({ rows }) => rows.length > 0));
  for (const other of others) t.strictSame(bytes(other), bytes(first!));
});
