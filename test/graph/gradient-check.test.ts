import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { relu, sigmoid, tanh } from '../../src/graph/ops/activations.js';
import { assembleColumns, columns, concatColumns } from '../../src/graph/ops/columns.js';
import { addN, mul, scale, sub } from '../../src/graph/ops/elementwise.js';
import { sigmoidCrossEntropyWithLogits } from '../../src/graph/ops/losses.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { addBias, rowDot, scaleRows } from '../../src/graph/ops/rows.js';
import { placeholder, variable } from '../../src/graph/ops/state.js';
import type { Session } from '../../src/runtime/session/session.js';
import { stream } from '../kernels/both.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';

const ROWS = 5;
const STEP = 0.02;
const TOLERANCE = 1e-3;

interface Inputs {
  readonly graph: Graph;
  readonly x: Tensor;
  readonly y: Tensor;
  readonly factor: Tensor;
  readonly label: Tensor;
  readonly weights: Tensor;
  readonly square: Tensor;
  readonly bias: Tensor;
  readonly narrow: Tensor;
}

function inputs(): Inputs {
  const graph = new Graph();
  const next = stream(7);
  const random = (count: number) => () => Float32Array.from({ length: count }, () => next() * 2 - 1);
  return {
    graph,
    x: placeholder(graph, { name: 'x', width: 3 }),
    y: placeholder(graph, { name: 'y', width: 3 }),
    factor: placeholder(graph, { name: 'factor' }),
    label: placeholder(graph, { name: 'label' }),
    weights: variable(graph, { name: 'weights', shape: [3, 2], initial: random(6) }),
    square: variable(graph, { name: 'square', shape: [3, 3], initial: random(9) }),
    bias: variable(graph, { name: 'bias', shape: [3], initial: random(3) }),
    narrow: variable(graph, { name: 'narrow', shape: [3, 1], initial: random(3) }),
  };
}

/** Each gives the tensor to be differentiated; the loss is a mean over it with a weight per element. */
const OPS: Readonly<Record<string, (i: Inputs) => Tensor>> = {
  AddN: ({ x, y }) => addN([x, y, x]),
  Sub: ({ x, y }) => sub(x, y),
  Mul: ({ x, y }) => mul(x, y),
  'Mul by itself': ({ x }) => mul(x, x),
  Scale: ({ x }) => scale(x, -2.5),
  RowDot: ({ x, y }) => rowDot(x, y),
  'RowDot with itself': ({ x }) => rowDot(x, x),
  ScaleRows: ({ factor, x }) => scaleRows(factor, x),
  'ScaleRows by a matrix of one column': ({ x, narrow, y }) => scaleRows(matMul(x, narrow), y),
  Columns: ({ x }) => columns(x, 1, 3),
  'Columns used apart': ({ x }) => addN([mul(columns(x, 0, 1), columns(x, 2, 3)), columns(x, 1, 2)]),
  AssembleColumns: ({ x, y, factor }) =>
    assembleColumns(concatColumns([x, y]), [
      { start: 0, grad: x },
      { start: 2, grad: y },
      { start: 5, grad: factor },
    ]),
  'Concat with a matrix of one column': ({ x, narrow, y }) => concatColumns([y, matMul(x, narrow), x]),
  MatMul: ({ x, weights }) => matMul(x, weights),
  'MatMul of shared matrices': ({ x, square, weights }) => matMul(x, matMul(square, weights)),
  'MatMul with weights used twice': ({ x, square }) => matMul(tanh(matMul(x, square)), square),
  BiasAdd: ({ x, bias }) => addBias(x, bias),
  Relu: ({ x, y }) => relu(mul(x, y)),
  Sigmoid: ({ x }) => sigmoid(x),
  Tanh: ({ x }) => tanh(x),
  SigmoidCrossEntropy: ({ factor, label }) => sigmoidCrossEntropyWithLogits(factor, label),
  'SigmoidCrossEntropy of a matrix of one column': ({ x, narrow, label }) =>
    sigmoidCrossEntropyWithLogits(matMul(x, narrow), label),
};
const PLACEHOLDERS = ['x', 'y', 'factor', 'label'] as const;
const VARIABLES = ['weights', 'square', 'bias', 'narrow'] as const;

/**
 * Mean of the output with different weights per element, minus a term of its own: also sums of means are
 * differentiated.
 */
function lossOf(i: Inputs, out: Tensor): Tensor {
  const weight = columns(concatColumns([i.y, i.y, i.y]), 0, out.columns);
  const shaped = out.columns === 1 ? columns(out, 0, 1) : out;
  return sub(addN([scale(reduceMean(mul(shaped, weight)), 8), reduceMean(shaped)]), reduceMean(shaped));
}

type Values = Record<string, Float32Array>;

async function check(session: Session, name: string, i: Inputs, values: Values): Promise<string[]> {
  const loss = lossOf(i, OPS[name]!(i));
  const names = [...PLACEHOLDERS, ...VARIABLES].filter((key) => key !== 'label');
  const grads = gradients(
    [loss],
    names.map((key) => i[key]),
  );
  const wrong: string[] = [];
  const at = async () => (await session.run([loss], values))[0] as number;
  for (const [index, key] of names.entries()) {
    const grad = grads[index];
    const target = key in values ? values[key]! : (session.readVariable(key) as Float32Array);
    const analytic = grad === undefined ? null : ((await session.run([grad], values))[0] as Float32Array);
    if (analytic !== null && analytic.length !== target.length) wrong.push(`${name}/${key}: ${analytic.length} floats`);
    for (let element = 0; element < target.length; element++) {
      const kept = target[element]!;
      target[element] = kept + STEP;
      const above = await at();
      target[element] = kept - STEP;
      const below = await at();
      target[element] = kept;
      const numeric = (above - below) / (2 * STEP);
      const found = analytic?.[element] ?? 0;
      if (!(Math.abs(found - numeric) <= TOLERANCE * Math.max(1, Math.abs(numeric)))) {
        wrong.push(`${name}/${key}[${element}]: ${found}, by differences ${numeric}`);
      }
    }
  }
  return wrong;
}

for (const backend of BACKENDS) {
  t.test(`gradients of every op equal central differences (${backend})`, async (t) => {
    const i = inputs();
    const next = stream(3);
    const random = (count: number) =>
      // Away from zero, where relu has a kink.
      Float32Array.from({ length: count }, () => (next() < 0.5 ? -1 : 1) * (0.3 + next()));
    const values: Values = {
      x: random(ROWS * 3),
      y: random(ROWS * 3),
      factor: random(ROWS),
      label: Float32Array.from({ length: ROWS }, () => Math.round(next())),
    };
    await withSession(i.graph, { backend, memoryBytes: 128 << 20 }, async (session) => {
      for (const name of Object.keys(OPS)) t.same(await check(session, name, i, values), [], name);
    });
  });
}
