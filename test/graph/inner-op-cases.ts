/** @file Ops over inner dimensions, each with its value in plain numbers. */
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
import { awayFromZero } from './differences.js';

export const ROWS = 3;
export const [N, D] = [3, 4];

export interface Inputs {
  /** [batch, 3, 4], [batch, 3, 4] and [batch, 3]. */
  readonly x: Tensor;
  readonly y: Tensor;
  readonly f: Tensor;
  weights(name: string, shape: readonly number[]): Tensor;
}

export function inputs(): Inputs {
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

export type Row = readonly number[];
export type Plain = (
  x: (n: number, d: number) => number,
  y: (n: number, d: number) => number,
  f: Row,
  w: Row,
) => number[];

export interface Case {
  readonly build: (i: Inputs) => Tensor;
  /** The row of an example in plain numbers; `w` are the values of the variable `w`. */
  readonly plain: Plain;
}

export const range = (count: number) => Array.from({ length: count }, (_, i) => i);
export const each = (a: number, b: number, value: (i: number, j: number) => number) =>
  range(a).flatMap((i) => range(b).map((j) => value(i, j)));
export const sum = (count: number, term: (i: number) => number) =>
  range(count).reduce((total, i) => total + term(i), 0);
export const softmaxOf = (row: Row, kept: (i: number) => boolean = () => true) => {
  const e = row.map((value, i) => (kept(i) ? Math.exp(value) : 0));
  const total = e.reduce((a, b) => a + b, 0);
  return e.map((value) => (total === 0 ? 0 : value / total));
};

export const CASES: Readonly<Record<string, Case>> = {
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
