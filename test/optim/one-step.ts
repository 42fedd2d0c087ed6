/** @file A model whose gradients follow from what is fed, so that optimizers can be watched. */
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { addN } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { rowDot } from '../../src/graph/ops/rows.js';
import { globalStep, group, increment, placeholder, variable } from '../../src/graph/ops/state.js';
import type { MinimizeOptions, Optimizer } from '../../src/optim/optimizer.js';
import type { Session, SessionOptions } from '../../src/runtime/session/session.js';
import { openSession } from '../runtime/with-session.js';

export interface Fed {
  readonly graph: Graph;
  readonly loss: Tensor;
  readonly train: Op;
  /** By the names of the optimizers. */
  readonly variables: ReadonlyMap<string, Tensor>;
}

/**
 * A variable of shape [rows, columns] for each optimizer, called by its key: loss = sum over them of the mean of
 * rowDot(a w, b), so the gradient of each is the mean of a ⊗ b over the batch. Weights start as cosines.
 */
export function fedModel(
  [rows, columns]: readonly [number, number, ...unknown[]],
  optimizers: Readonly<Record<string, Optimizer>>,
  options: MinimizeOptions = {},
): Fed {
  const graph = new Graph();
  const [a, b] = [placeholder(graph, { name: 'a', width: rows }), placeholder(graph, { name: 'b', width: columns })];
  const initial = () => Float32Array.from({ length: rows * columns }, (_, i) => Math.cos(i));
  const variables = new Map(
    Object.keys(optimizers).map((name) => [name, variable(graph, { name, shape: [rows, columns], initial })]),
  );
  const loss = addN([...variables.values()].map((w) => reduceMean(rowDot(matMul(a, w), b))));
  const steps = Object.entries(optimizers).map(([name, optimizer]) =>
    optimizer.minimize(loss, { varList: [variables.get(name)!], ...options }),
  );
  const train = group(graph, [...steps, increment(globalStep(graph)) as Op]) as Op;
  return { graph, loss, train, variables };
}

/** Feeds of a step, and the gradient they give, in f64. */
export function feedOf(rows: number, columns: number, step: number, examples = 4) {
  const value = (i: number) => Math.fround(Math.sin(i * 1.7 + step * 0.3));
  const a = Float32Array.from({ length: rows * examples }, (_, i) => value(i));
  const b = Float32Array.from({ length: columns * examples }, (_, i) => value(i + 1000));
  const gradient = Float32Array.from({ length: rows * columns }, (_, at) => {
    let sum = 0;
    for (let e = 0; e < examples; e++)
      sum += a[e * rows + Math.floor(at / columns)]! * b[e * columns + (at % columns)]!;
    return sum / examples;
  });
  return { feeds: { a, b }, gradient };
}

/** Runs `steps` steps and returns what `read` gives of the session. */
export async function trainFed<T>(
  model: Fed,
  [rows, columns, steps]: readonly [number, number, number],
  options: Partial<SessionOptions>,
  read: (session: Session) => T,
): Promise<T> {
  const session = await openSession(model.graph, options);
  try {
    for (let step = 0; step < steps; step++) await session.run([model.train], feedOf(rows, columns, step).feeds);
    return read(session);
  } finally {
    await session.close();
  }
}
