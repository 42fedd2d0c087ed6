import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { addN } from '../../src/graph/ops/elementwise.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { placeholder } from '../../src/graph/ops/state.js';
import type { Session } from '../../src/runtime/session/session.js';
import { stream } from '../kernels/both.js';
import { addStep, epoch, leaf, type Node, type Step, steps } from './random-graph.js';
import { BACKENDS, openSession } from './with-session.js';

const WIDTHS = { a: 3, b: 3, c: 1, d: 5 } as const;
const BATCH = 7;

/** One graph and its sessions serve all runs: each run adds its ops and compiles what it fetches. */
const graph = new Graph();
const feeds = Object.entries(WIDTHS).map(([name, width]) => placeholder(graph, { name, width }));
const open = { batchSize: BATCH, memoryBytes: 32 << 20 };
const plain = BACKENDS.flatMap((backend) => [1, 2].map((threads) => openSession(graph, { ...open, backend, threads })));
const fixed = [1, 3].map((threads) => openSession(graph, { ...open, deterministic: true, threads }));
const sessions = await Promise.all([...plain, ...fixed]);
const [one, many] = sessions.slice(-2) as [Session, Session];
t.teardown(() => Promise.all(sessions.map((session) => session.close())));

const cases = fc.record({
  steps,
  rows: fc.integer({ min: 0, max: BATCH }),
  seed: fc.integer(),
  fetches: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
});

function valuesFor(rows: number, seed: number): Record<string, Float32Array> {
  const next = stream(seed);
  return Object.fromEntries(
    Object.entries(WIDTHS).map(([name, width]) => [
      name,
      Float32Array.from({ length: rows * width }, () => next() * 2 - 1),
    ]),
  );
}

const DIRT = valuesFor(BATCH, 99);

function build(recipe: readonly Step[], values: Record<string, ArrayLike<number>>): Node[] {
  const nodes = feeds.map((feed) => leaf(feed, values[feed.op.name]!));
  for (const step of recipe) addStep(nodes, step);
  return nodes;
}

/**
 * Runs the fetches on every session; all must give `expected` within what f32 rounding explains, and the deterministic
 * ones the same bits.
 */
async function compare(
  fetches: readonly Tensor[],
  values: Record<string, Float32Array>,
  expected: readonly { value: readonly number[]; size: readonly number[] }[],
): Promise<void> {
  const results = new Map<Session, unknown[]>();
  for (const session of sessions) {
    // Buffers must not be clean: what a step leaves behind is what the next one finds.
    await session.run(fetches, DIRT);
    const found = await session.run(fetches, values);
    results.set(session, found);
    found.forEach((result, index) => {
      const list = typeof result === 'number' ? [result] : Array.from(result as Float32Array);
      const { value, size } = expected[index]!;
      assert.equal(list.length, value.length, `${session.backend}: length of ${fetches[index]!.name}`);
      list.forEach((x, i) => {
        const bound = 1e-5 * size[i]! + 1e-6;
        assert.ok(
          Math.abs(x - value[i]!) <= bound,
          `${session.backend} ${fetches[index]!.name}[${i}]: ${x}, not ${value[i]}`,
        );
      });
    });
  }
  assert.deepEqual(results.get(many), results.get(one), 'threads must not change a bit');
}

const rowsOf = (rows: number, get: (row: number) => number[]) => Array.from({ length: rows }, (_, r) => get(r)).flat();

t.test('random graphs give what a plain evaluator gives, whatever is fetched', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ steps: recipe, rows, seed, fetches }) => {
      const values = valuesFor(rows, seed);
      epoch.rows = rows;
      const nodes = build(recipe, values);
      const wanted = [nodes.at(-1)!, ...fetches.map((pick) => nodes[pick % nodes.length]!)];
      const expected = wanted.map(({ plain }) => ({
        value: rowsOf(rows, plain.value),
        size: rowsOf(rows, plain.size),
      }));
      await compare(
        wanted.map(({ tensor }) => tensor),
        values,
        expected,
      );
    }),
    { numRuns: 120 },
  );
});

t.test('gradients of random graphs equal differences of the plain evaluator', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ steps: recipe, rows, seed }) => {
      const values = valuesFor(Math.max(rows, 1), seed);
      epoch.rows = Math.max(rows, 1);
      const live = Object.fromEntries(Object.entries(values).map(([name, list]) => [name, Float64Array.from(list)]));
      const nodes = build(recipe, live);
      const last = nodes.at(-1)!;
      const loss = addN([reduceMean(last.tensor), reduceMean(nodes.at(-2)!.tensor)]);
      const found = gradients([loss], feeds);
      const expected = feeds.map((feed) => differences(nodes, live, feed.op.name));
      const present = found.flatMap((grad, index) => (grad === undefined ? [] : [{ grad, ...expected[index]! }]));
      found.forEach((grad, index) => {
        if (grad === undefined) assert.ok(expected[index]!.value.every((value) => Math.abs(value) < 1e-9));
      });
      if (present.length > 0) {
        await compare(
          present.map(({ grad }) => grad),
          values,
          present,
        );
      }
    }),
    { numRuns: 40 },
  );
});

/** Derivative of the means of the last two nodes with respect to every element of one feed, in f64. */
function differences(nodes: readonly Node[], live: Record<string, Float64Array>, name: string) {
  const ends = [nodes.at(-1)!.plain, nodes.at(-2)!.plain];
  const feed = live[name]!;
  const rows = live.c!.length;
  const h = 1e-4;
  const add = (list: readonly number[]) => list.reduce((a, b) => a + b, 0);
  const lossAt = (element: number, x: number) => {
    feed[element] = x;
    epoch.now++;
    return ends.reduce((sum, plain) => sum + add(rowsOf(rows, plain.value)) / (plain.columns * rows), 0);
  };
  const value = Array.from(feed, (kept, element) => {
    const slope = (lossAt(element, kept + h) - lossAt(element, kept - h)) / (2 * h);
    feed[element] = kept;
    return slope;
  });
  epoch.now++;
  // Products of products: the size of the whole, not of the derivative, is what rounding is measured by.
  const size = ends.reduce((sum, plain) => sum + add(rowsOf(rows, plain.size)), 1);
  return { value, size: value.map(() => 100 * size) };
}
