import t from 'tap';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { headScores, softmax } from '../../src/graph/ops/attention.js';
import { batchMatMul, matMulInner } from '../../src/graph/ops/batch-matmul.js';
import { addShared, broadcastInner, groupDot, scaleGroups, topK } from '../../src/graph/ops/inner.js';
import { cin, ffm } from '../../src/graph/ops/pairs.js';
import { concatInner, gatherInner, sliceInner, splitInner } from '../../src/graph/ops/positions.js';
import { reshape, stack, transposeInner } from '../../src/graph/ops/shape.js';
import { placeholder } from '../../src/graph/ops/state.js';
import { stream } from '../kernels/both.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';
import { awayFromZero, differences, prepareDifferences, valuesOf } from './differences.js';
import { CASES, D, type Inputs, inputs, N, ROWS, range, softmaxOf } from './inner-op-cases.js';

for (const backend of BACKENDS) {
  t.test(`values and gradients of ops over inner dimensions (${backend})`, async (t) => {
    const next = stream(9);
    const i = inputs();
    const { graph } = i.x;
    const feeds = {
      x: awayFromZero(next, ROWS * N * D),
      y: awayFromZero(next, ROWS * N * D),
      f: awayFromZero(next, ROWS * N),
    };
    const cases = Object.entries(CASES).map(([name, { build, plain }]) => {
      let w: Tensor | undefined;
      const weights: Inputs['weights'] = (...args) => {
        w = i.weights(...args);
        return w;
      };
      const out = build({ ...i, weights });
      const check = prepareDifferences(out, { rows: ROWS, step: 0.004, tolerance: 4e-3 });
      return { name, plain, out, w, check };
    });
    await withSession(graph, { backend, batchSize: ROWS, memoryBytes: 256 << 20 }, async (session) => {
      for (const { name, plain, out, w, check } of cases) {
        const found = (await session.run([out], feeds))[0] as Float32Array;
        const weights = w === undefined ? [] : [...(session.readVariable(w.op.name) as Float32Array)];
        const expected = range(ROWS).flatMap((r) => {
          const at = (values: Float32Array) => (n: number, d: number) => values[r * N * D + n * D + d]!;
          return plain(at(feeds.x), at(feeds.y), [...feeds.f.subarray(r * N, (r + 1) * N)], weights);
        });
        const isNear = (value: number, k: number) => Math.abs(value - found[k]!) < 2e-5 * Math.max(1, Math.abs(value));
        const far = expected.findIndex((value, k) => !isNear(value, k));
        t.equal(found.length, expected.length, name);
        t.equal(far, -1, `${name}: element ${far} is ${found[far]}, not ${expected[far]}`);
        t.same(await check(session), [], `gradients of ${name}`);
      }
    });
  });
}

t.test('softmax leaves out what the mask leaves out', async (t) => {
  for (const backend of BACKENDS) {
    const graph = new Graph();
    const x = reshape(placeholder(graph, { name: 'x', width: 6 }), [2, 3]);
    const [own, shared] = [
      reshape(placeholder(graph, { name: 'own', width: 6 }), [2, 3]),
      placeholder(graph, { name: 'shared', width: 3 }),
    ];
    const feeds = {
      x: Float32Array.of(1, 50, -2, 0.5, 1.5, 0),
      own: Float32Array.of(1, 0, 1, 0, 0, 0),
      shared: Float32Array.of(0, 1, 1),
    };
    const fetches = [softmax(x, { mask: own }), softmax(x, { mask: shared })];
    const [a, b] = await valuesOf(fetches, feeds, { rows: 1, backend });
    const rows = [[...feeds.x.subarray(0, 3)], [...feeds.x.subarray(3)]];
    const near = (found: Float32Array, expected: readonly number[]) =>
      expected.every((value, i) => Math.abs(value - found[i]!) < 1e-6);
    t.ok(near(a!, [...softmaxOf(rows[0]!, (i) => i !== 1), 0, 0, 0]), 'a mask of its own; all masked is 0');
    t.ok(
      near(
        b!,
        rows.flatMap((row) => softmaxOf(row, (i) => i > 0)),
      ),
      'one mask for both groups',
    );
    const { own: o, shared: s } = feeds;
    t.same(await differences(fetches[0]!, { backend, rows: 1, fixed: { own: o, shared: s } }), []);
  }
});

t.test('topK says where the values were, the first of equal ones first', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 5 });
  const { values, indices } = topK(x, 3);
  const found = await valuesOf([values, indices], { x: Float32Array.of(1, 7, 3, 7, 5) }, { rows: 1 });
  t.same(
    found.map((row) => [...row]),
    [
      [7, 7, 5],
      [1, 3, 4],
    ],
  );
});

t.test('what does not fit is refused by name', async (t) => {
  const { x, y, f, weights } = inputs();
  const refusals: readonly (() => unknown)[] = [
    () => reshape(x, [5, -1]),
    () => reshape(x, [5, 2]),
    () => transposeInner(f),
    () => sliceInner(x, 2, 2, { axis: 1 }),
    () => sliceInner(x, 0, 1, { axis: 3 }),
    () => splitInner(x, 2, { axis: 1 }),
    () => concatInner([x, f], { axis: 1 }),
    () => concatInner([], { axis: 1 }),
    () => stack([x, f]),
    () => gatherInner(x, [3]),
    () => gatherInner(x, []),
    () => broadcastInner(f, 0),
    () => broadcastInner(f, 2, { axis: 0 }),
    () => addShared(x, weights('a', [N])),
    () => scaleGroups(f, f),
    () => groupDot(x, f),
    () => softmax(x, { mask: sliceInner(f, 0, 2, { axis: 1 }) }),
    () => topK(x, D + 1),
    () => batchMatMul(x, y),
    () => headScores(x, y, { heads: 3 }),
    () => matMulInner(x, weights('b', [N, 2])),
    () => ffm(x, y, { dim: 5 }),
    () => cin(x, y, weights('c', [N, 2])),
  ];
  for (const refuse of refusals) t.throws(refuse, { code: 'ML_GRAPH' }, String(refuse));
});
