/** @file One small use of every layer, and the same by hand. */
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { concatColumns } from '../../src/graph/ops/columns.js';
import { reshape } from '../../src/graph/ops/shape.js';
import { placeholder } from '../../src/graph/ops/state.js';
import { AttentionLayer } from '../../src/layers/attention-layer.js';
import { CinLayer } from '../../src/layers/cin-layer.js';
import { CrossLayer } from '../../src/layers/cross-layer.js';
import { DenseLayer } from '../../src/layers/dense-layer.js';
import { fieldAwareFm, fm } from '../../src/layers/factorization.js';
import { MlpLayer } from '../../src/layers/mlp-layer.js';
import { MmoeLayer } from '../../src/layers/mmoe-layer.js';
import { SenetLayer } from '../../src/layers/senet-layer.js';
import { TargetAttentionLayer } from '../../src/layers/target-attention-layer.js';
import type { WeightInitializer } from '../../src/layers/weight-initializers.js';
import { dense, dot, linear, mlp, type Row, range, relu, sigmoid, softmax, sum, type Weights } from './plain.js';

export const [N, D] = [3, 4];

export interface Inputs {
  readonly graph: Graph;
  /** `[batch, 4]`, `[batch, 3, 4]`, and `[batch, 3]` of zeros and ones. */
  readonly x: Tensor;
  readonly s: Tensor;
  readonly m: Tensor;
}

export function inputs(): Inputs {
  const graph = new Graph();
  return {
    graph,
    x: placeholder(graph, { name: 'x', width: D }),
    s: reshape(placeholder(graph, { name: 's', width: N * D }), [N, D]),
    m: placeholder(graph, { name: 'm', width: N }),
  };
}

export interface Example {
  readonly x: Row;
  readonly s: readonly Row[];
  readonly m: Row;
}

export interface Case {
  readonly build: (i: Inputs) => Tensor;
  readonly plain: (example: Example, w: Weights) => number[];
}

/** Biases too are random, so that a bias that is left out shows. */
const random: WeightInitializer = (shape, next) =>
  Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => next() - 0.5);
const biasInitializer = random;

function cinMaps(fields: readonly Row[], maps: readonly Row[], kernel: Row, outs: number): number[][] {
  return range(outs).map((o) =>
    range(fields[0]!.length).map((c) =>
      sum(maps.length, (h) =>
        sum(fields.length, (f) => kernel[(h * fields.length + f) * outs + o]! * maps[h]![c]! * fields[f]![c]!),
      ),
    ),
  );
}

function attention(query: readonly Row[], value: readonly Row[], w: Weights, heads: number, mask?: Row): number[] {
  const project = (rows: readonly Row[], part: string) => rows.map((row) => dense(row, w, `attention/${part}`));
  const [q, k, v] = [project(query, 'query'), project(value, 'key'), project(value, 'value')];
  const [keyDim, valueDim] = [q[0]!.length / heads, v[0]!.length / heads];
  return q.flatMap((row) => {
    const mixed = range(heads).flatMap((h) => {
      const part = (x: Row, size: number) => x.slice(h * size, (h + 1) * size);
      const scores = k.map((key) => dot(part(row, keyDim), part(key, keyDim)) / Math.sqrt(keyDim));
      const weights = softmax(scores, mask);
      return range(valueDim).map((c) => sum(v.length, (p) => weights[p]! * part(v[p]!, valueDim)[c]!));
    });
    return dense(mixed, w, 'attention/output');
  });
}

function targetScores({ x, s }: Example, w: Weights): number[] {
  return s.map((key) => {
    const seen = [...x, ...key, ...x.map((value, c) => value - key[c]!), ...x.map((value, c) => value * key[c]!)];
    return mlp(seen, w, 'target_attention/score', [sigmoid, linear])[0]!;
  });
}

const weighted = (weights: Row, rows: readonly Row[]) =>
  range(D).map((c) => sum(rows.length, (n) => weights[n]! * rows[n]![c]!));

export const CASES: Readonly<Record<string, Case>> = {
  DenseLayer: {
    build: ({ x }) => new DenseLayer(5, { activation: 'tanh', biasInitializer }).call(x),
    plain: ({ x }, w) => dense(x, w, 'dense', Math.tanh),
  },
  'Dense without bias': {
    build: ({ x }) => new DenseLayer(2, { useBias: false }).call(x),
    plain: ({ x }, w) => range(2).map((j) => sum(D, (i) => x[i]! * w('dense/kernel')[i * 2 + j]!)),
  },
  'Dense over positions': {
    build: ({ s }) => new DenseLayer(5, { activation: 'sigmoid', biasInitializer }).call(s),
    plain: ({ s }, w) => s.flatMap((row) => dense(row, w, 'dense', sigmoid)),
  },
  'Dense called twice': {
    build: ({ x }) => {
      const layer = new DenseLayer(D, { activation: 'tanh', biasInitializer });
      return layer.call(layer.call(x));
    },
    plain: ({ x }, w) => dense(dense(x, w, 'dense', Math.tanh), w, 'dense', Math.tanh),
  },
  MlpLayer: {
    build: ({ x }) =>
      new MlpLayer([6, 3, 2], { activation: 'tanh', outputActivation: 'sigmoid', biasInitializer }).call(x),
    plain: ({ x }, w) => mlp(x, w, 'mlp', [Math.tanh, Math.tanh, sigmoid]),
  },
  'MLP with layer norm': {
    build: ({ x }) => new MlpLayer([6, 2], { activation: 'tanh', norm: 'layer', biasInitializer }).call(x),
    plain: ({ x }, w) => {
      const hidden = dense(x, w, 'mlp/dense');
      const mean = sum(6, (i) => hidden[i]!) / 6;
      const variance = sum(6, (i) => (hidden[i]! - mean) ** 2) / 6;
      const [gain, bias] = [w('mlp/norm_0/gain'), w('mlp/norm_0/bias')];
      const active = hidden.map((h, i) => Math.tanh(((h - mean) / Math.sqrt(variance + 1e-3)) * gain[i]! + bias[i]!));
      return dense(active, w, 'mlp/dense_1');
    },
  },
  'Cross, version 1': {
    build: ({ x }) => new CrossLayer(2, { version: 1 }).call(x),
    plain: ({ x }, w) =>
      range(2).reduce<number[]>(
        (crossed, i) => {
          const s = dot(crossed, w(`cross/kernel_${i}`));
          return x.map((value, c) => value * s + w(`cross/bias_${i}`)[c]! + crossed[c]!);
        },
        [...x],
      ),
  },
  'Cross, version 2': {
    build: ({ x }) => new CrossLayer(2, {}).call(x),
    plain: ({ x }, w) =>
      range(2).reduce<number[]>(
        (crossed, i) =>
          x.map((value, c) => {
            const product = sum(D, (k) => crossed[k]! * w(`cross/kernel_${i}`)[k * D + c]!);
            return value * (product + w(`cross/bias_${i}`)[c]!) + crossed[c]!;
          }),
        [...x],
      ),
  },
  'Cross of low rank': {
    build: ({ x }) => new CrossLayer(1, { rank: 2 }).call(x),
    plain: ({ x }, w) => {
      const low = range(2).map((r) => sum(D, (k) => x[k]! * w('cross/u_0')[k * 2 + r]!));
      return x.map((value, c) => value * sum(2, (r) => low[r]! * w('cross/v_0')[r * D + c]!) + value);
    },
  },
  FM: {
    build: ({ s, x }) => concatColumns([fm(s), fm([x, x])]),
    plain: ({ s, x }) => [dot(s[0]!, s[1]!) + dot(s[0]!, s[2]!) + dot(s[1]!, s[2]!), dot(x, x)],
  },
  'field-aware FM': {
    // Two fields of three floats for each other: the rows are 3 x 3 x 1 and 2 x 2 x 3.
    build: ({ s, x }) => fieldAwareFm(reshape(concatColumns([reshape(s, [-1]), x, x, x]), [2, 2, 6])),
    plain: ({ s, x }) => {
      const row = [...s.flat(), ...x, ...x, ...x];
      return [dot(row.slice(6, 12), row.slice(12, 18))];
    },
  },
  CinLayer: {
    build: ({ s }) => new CinLayer([4, 2], { activation: 'tanh' }).call(s),
    plain: ({ s }, w) => {
      const first = cinMaps(s, s, w('cin/kernel_0'), 4).map((row) => row.map(Math.tanh));
      const second = cinMaps(s, first, w('cin/kernel_1'), 2).map((row) => row.map(Math.tanh));
      return [...first, ...second].map((row) => sum(D, (c) => row[c]!));
    },
  },
  'MultiHeadAttention to itself': {
    build: ({ s }) => new AttentionLayer({ heads: 2, keyDim: 3 }).call(s),
    plain: ({ s }, w) => attention(s, s, w, 2),
  },
  'MultiHeadAttention with a mask': {
    build: ({ s, m, x }) =>
      new AttentionLayer({ heads: 2, keyDim: 2, valueDim: 3, outputDim: 5 }).call(reshape(x, [2, 2]), {
        value: s,
        mask: m,
      }),
    plain: ({ s, m, x }, w) => attention([x.slice(0, 2), x.slice(2)], s, w, 2, m),
  },
  TargetAttentionLayer: {
    build: ({ x, s, m }) => new TargetAttentionLayer({ hidden: [5] }).call(x, s, { mask: m }),
    plain: (example, w) => {
      const { s, m } = example;
      return weighted(
        targetScores(example, w).map((score, n) => score * m[n]!),
        s,
      );
    },
  },
  'TargetAttention with softmax': {
    build: ({ x, s, m }) => new TargetAttentionLayer({ hidden: [5], softmax: true }).call(x, s, { mask: m }),
    plain: (example, w) => weighted(softmax(targetScores(example, w), example.m), example.s),
  },
  MmoeLayer: {
    build: ({ x }) => concatColumns(new MmoeLayer({ experts: 3, tasks: 2, units: [5, 2], activation: 'tanh' }).call(x)),
    plain: ({ x }, w) => {
      const experts = range(3).map((e) => mlp(x, w, `mmoe/expert_${e}`, [Math.tanh, Math.tanh]));
      return range(2).flatMap((task) => {
        const gate = softmax(dense(x, w, `mmoe/gate_${task}`));
        return range(2).map((c) => sum(3, (e) => gate[e]! * experts[e]![c]!));
      });
    },
  },
  SenetLayer: {
    build: ({ s }) => new SenetLayer({ reduction: 1, activation: 'tanh' }).call(s),
    plain: ({ s }, w) => {
      const means = s.map((row) => sum(D, (c) => row[c]!) / D);
      const factors = mlp(means, w, 'senet/excitation', [Math.tanh, sigmoid]);
      return s.flatMap((row, n) => row.map((value) => value * factors[n]!));
    },
  },
  'relu and other activations by name': {
    build: ({ x }) =>
      concatColumns([
        new DenseLayer(3, { activation: 'relu', biasInitializer }).call(x),
        new DenseLayer(2, { activation: 'swish' }).call(x),
        new DenseLayer(2, { activation: (y) => y, kernelInitializer: 'he' }).call(x),
      ]),
    plain: ({ x }, w) => [
      ...dense(x, w, 'dense', relu),
      ...dense(x, w, 'dense_1', (y) => y * sigmoid(y)),
      ...dense(x, w, 'dense_2'),
    ],
  },
};
