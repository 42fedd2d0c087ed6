import t from 'tap';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { tanh } from '../../src/graph/ops/activations.js';
import { headMix, headScores, softmax } from '../../src/graph/ops/attention.js';
import { batchMatMul, matMulInner } from '../../src/graph/ops/batch-matmul.js';
import { columns, concatColumns } from '../../src/graph/ops/columns.js';
import { addN, mul } from '../../src/graph/ops/elementwise.js';
import {
  addShared,
  broadcastInner,
  groupDot,
  maxInner,
  meanInner,
  mulShared,
  scaleGroups,
  sumInner,
  topK,
} from '../../src/graph/ops/inner.js';
import { cin, ffm } from '../../src/graph/ops/pairs.js';
import { concatInner, gatherInner, sliceInner, splitInner } from '../../src/graph/ops/positions.js';
import { reshape, stack, transposeInner, unstack } from '../../src/graph/ops/shape.js';
import { placeholder, variable } from '../../src/graph/ops/state.js';
import { stream } from '../kernels/both.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';
import { awayFromZero, differences, prepareDifferences, valuesOf } from './differences.js';

const ROWS = 3;
const [N, D] = [3, 4];

interface Inputs {
  /** [batch, 3, 4], [batch, 3, 4] and [batch, 3]. */
  readonly x: Tensor;
  readonly y: Tensor;
  readonly f: Tensor;
  weights(name: string, shape: readonly number[]): Tensor;
}

function inputs(): Inputs {
  const graph = new Graph();
  const next = stream(5);
  return {
    x: reshape(placeholder(graph, { name: 'x', width: N * D }), [N, D]),
    y: reshape(placeholder(graph, { name: 'y', width: N * D }), [N, D]),
    f: placeholder(graph, { name: 'f', width: N }),
    weights: (name, shape) =>
      variable(graph, {
        name,
        shape,
        initial: () =>
          awayFromZero(
            next,
            shape.reduce((a, b) => a * b, 1),
          ),
      }),
  };
}

type Row = readonly number[];
type Plain = (x: (n: number, d: number) => number, y: (n: number, d: number) => number, f: Row, w: Row) => number[];

interface Case {
  readonly build: (i: Inputs) => Tensor;
  /** The row of an example in plain numbers; `w` are the values of the variable `w`. */
  readonly plain: Plain;
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const each = (a: number, b: number, value: (i: number, j: number) => number) =>
  range(a).flatMap((i) => range(b).map((j) => value(i, j)));
const sum = (count: number, term: (i: number) => number) => range(count).reduce((total, i) => total + term(i), 0);
const softmaxOf = (row: Row, kept: (i: number) => boolean = () => true) => {
  const e = row.map((value, i) => (kept(i) ? Math.exp(value) : 0));
  const total = e.reduce((a, b) => a + b, 0);
  return e.map((value) => (total === 0 ? 0 : value / total));
};

const CASES: Readonly<Record<string, Case>> = {
  transposeInner: { build: ({ x }) => transposeInner(x), plain: (x) => each(D, N, (d, n) => x(n, d)) },
  'sliceInner of the first axis': {
    build: ({ x }) => sliceInner(x, 1, 3, { axis: 1 }),
    plain: (x) => each(2, D, (n, d) => x(n + 1, d)),
  },
  'sliceInner of the last axis': {
    build: ({ x }) => sliceInner(x, 1, 3, { axis: -1 }),
    plain: (x) => each(N, 2, (n, d) => x(n, d + 1)),
  },
  'parts of the last axis used apart': {
    build: ({ x }) => {
      const [a, b] = splitInner(x, 2, { axis: 2 }) as [Tensor, Tensor];
      return mul(a, tanh(b));
    },
    plain: (x) => each(N, 2, (n, d) => x(n, d) * Math.tanh(x(n, d + 2))),
  },
  'concatInner of the last axis': {
    build: ({ x, y }) => concatInner([x, sliceInner(y, 0, 1, { axis: 2 }), tanh(y)], { axis: 2 }),
    plain: (x, y) => each(N, 2 * D + 1, (n, d) => (d < D ? x(n, d) : d === D ? y(n, 0) : Math.tanh(y(n, d - D - 1)))),
  },
  'concatInner of the first axis': {
    build: ({ x, y }) => concatInner([tanh(x), y], { axis: 1 }),
    plain: (x, y) => each(2 * N, D, (n, d) => (n < N ? Math.tanh(x(n, d)) : y(n - N, d))),
  },
  'stack of what unstack gives': {
    build: ({ x }) => stack([...unstack(x)].reverse()),
    plain: (x) => each(N, D, (n, d) => x(N - 1 - n, d)),
  },
  'gatherInner with one position twice': {
    build: ({ x }) => gatherInner(x, [2, 0, 2], { axis: 1 }),
    plain: (x) => each(3, D, (n, d) => x([2, 0, 2][n]!, d)),
  },
  'gatherInner of the last axis': {
    build: ({ x }) => gatherInner(x, [3, 1], { axis: -1 }),
    plain: (x) => each(N, 2, (n, d) => x(n, [3, 1][d]!)),
  },
  'sumInner over axis 1': { build: ({ x }) => sumInner(x), plain: (x) => range(D).map((d) => sum(N, (n) => x(n, d))) },
  'meanInner over the last axis': {
    build: ({ x }) => meanInner(x, { axis: -1 }),
    plain: (x) => range(N).map((n) => sum(D, (d) => x(n, d)) / D),
  },
  maxInner: {
    build: ({ x }) => maxInner(x, { axis: 1 }),
    plain: (x) => range(D).map((d) => Math.max(...range(N).map((n) => x(n, d)))),
  },
  'broadcastInner of axis 1': {
    build: ({ f }) => broadcastInner(f, 2),
    plain: (_, __, f) => each(2, N, (_, n) => f[n]!),
  },
  'broadcastInner of the last axis': {
    build: ({ f }) => broadcastInner(f, 2, { axis: -1 }),
    plain: (_, __, f) => each(N, 2, (n) => f[n]!),
  },
  'addShared of a vector': {
    build: ({ x, weights }) => addShared(x, weights('w', [D])),
    plain: (x, _, __, w) => each(N, D, (n, d) => x(n, d) + w[d]!),
  },
  'mulShared of a matrix': {
    build: ({ x, weights }) => mulShared(x, weights('w', [N, D])),
    plain: (x, _, __, w) => each(N, D, (n, d) => x(n, d) * w[n * D + d]!),
  },
  'mulShared of a vector': {
    build: ({ x, weights }) => mulShared(x, weights('w', [D])),
    plain: (x, _, __, w) => each(N, D, (n, d) => x(n, d) * w[d]!),
  },
  scaleGroups: { build: ({ f, x }) => scaleGroups(f, x), plain: (x, _, f) => each(N, D, (n, d) => f[n]! * x(n, d)) },
  groupDot: {
    build: ({ x, y }) => groupDot(x, y),
    plain: (x, y) => range(N).map((n) => sum(D, (d) => x(n, d) * y(n, d))),
  },
  softmax: {
    build: ({ x }) => softmax(x),
    plain: (x) => range(N).flatMap((n) => softmaxOf(range(D).map((d) => x(n, d)))),
  },
  'topK values': {
    build: ({ x }) => topK(x, 2).values,
    plain: (x) =>
      range(N).flatMap((n) =>
        range(D)
          .map((d) => x(n, d))
          .sort((a, b) => b - a)
          .slice(0, 2),
      ),
  },
  batchMatMul: {
    build: ({ x, y }) => batchMatMul(x, transposeInner(y)),
    plain: (x, y) => each(N, N, (i, j) => sum(D, (d) => x(i, d) * y(j, d))),
  },
  'batchMatMul with b transposed': {
    build: ({ x, y }) => batchMatMul(x, y, { transposeB: true }),
    plain: (x, y) => each(N, N, (i, j) => sum(D, (d) => x(i, d) * y(j, d))),
  },
  'batchMatMul with a transposed': {
    build: ({ x, y }) => batchMatMul(x, y, { transposeA: true }),
    plain: (x, y) => each(D, D, (i, j) => sum(N, (n) => x(n, i) * y(n, j))),
  },
  'batchMatMul with both transposed': {
    build: ({ x, y }) => batchMatMul(x, transposeInner(y), { transposeA: true, transposeB: true }),
    plain: (x, y) => each(D, D, (i, j) => sum(N, (n) => x(n, i) * y(n, j))),
  },
  'heads of attention': {
    build: ({ x, y }) => headMix(headScores(x, y, { heads: 2 }), y),
    plain: (x, y) =>
      each(N, D, (n, d) => {
        const head = [0, 1].map((c) => 2 * Math.floor(d / 2) + c);
        return sum(N, (p) => head.reduce((dot, c) => dot + x(n, c) * y(p, c), 0) * y(p, d));
      }),
  },
  matMulInner: {
    build: ({ x, weights }) => matMulInner(x, weights('w', [D, 2])),
    plain: (x, _, __, w) => each(N, 2, (n, k) => sum(D, (d) => x(n, d) * w[d * 2 + k]!)),
  },
  'matMulInner of parts of wider rows': {
    build: ({ x, y, weights }) => {
      const w = weights('w', [D, 2]);
      const wide = reshape(concatColumns([reshape(x, [-1]), reshape(y, [-1])]), [2 * N, D]);
      return concatInner([matMulInner(sliceInner(wide, 1, 3, { axis: 1 }), w), matMulInner(tanh(y), w)], { axis: 1 });
    },
    plain: (x, y, _, w) => [
      ...each(2, 2, (n, k) => sum(D, (d) => x(n + 1, d) * w[d * 2 + k]!)),
      ...each(N, 2, (n, k) => sum(D, (d) => Math.tanh(y(n, d)) * w[d * 2 + k]!)),
    ],
  },
  'ffm by dot': {
    build: ({ x, y }) => ffm(x, y, { dim: D, kind: 'dot' }),
    plain: (x, y) => each(N, N, (i, j) => sum(D, (d) => x(i, d) * y(j, d))),
  },
  'ffm by multiply': {
    build: ({ x, y }) => ffm(reshape(x, [-1]), columns(reshape(y, [-1]), 0, 2 * D), { dim: D }),
    plain: (x, y) => each(N * 2, D, (pair, d) => x(pair >> 1, d) * y(pair & 1, d)),
  },
  cin: {
    build: ({ x, y, weights }) => cin(x, sliceInner(y, 0, 2, { axis: 1 }), weights('w', [2 * N, 3])),
    plain: (x, y, _, w) =>
      each(3, D, (o, d) => sum(2 * N, (pair) => w[pair * 3 + o]! * x(pair >> 1, d) * y(pair & 1, d))),
  },
  'cin of one tensor with itself': {
    build: ({ x, weights }) => cin(x, x, weights('w', [N * N, 2])),
    plain: (x, _, __, w) =>
      each(2, D, (o, d) => sum(N * N, (p) => w[p * 2 + o]! * x(Math.floor(p / N), d) * x(p % N, d))),
  },
  'views that are added up in place': {
    build: ({ x, y }) => addN([reshape(tanh(x), [-1]), reshape(mul(x, y), [-1]), reshape(y, [-1])]),
    plain: (x, y) => each(N, D, (n, d) => Math.tanh(x(n, d)) + x(n, d) * y(n, d) + y(n, d)),
  },
};

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
