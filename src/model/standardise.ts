/**
 * @file Numbers as a model sees them: less their mean, over their deviation. Both are counted while the model trains
 * and live in its checkpoint, so that evaluation and serving see what training saw, without a pass over the data first.
 *
 * Examples are counted up to a million; later ones make the older ones fade, so that drifting data stays standardised.
 */

import { MISSING_NUMBER } from '../data/field.js';
import type { Features } from '../data/schema.js';
import type { Graph, Tensor } from '../graph/graph.js';
import { batchSum } from '../graph/ops/batch-sum.js';
import { clipByValue } from '../graph/ops/clip.js';
import { columns, concatColumns } from '../graph/ops/columns.js';
import { add, div, greaterEqual, maximum, minimum, mul, sub } from '../graph/ops/elementwise.js';
import { UPDATE_OPS } from '../graph/ops/norms.js';
import { reduceSum } from '../graph/ops/reductions.js';
import { assign, variable } from '../graph/ops/state.js';
import { ifTraining } from '../graph/ops/training.js';
import { sqrt, square } from '../graph/ops/unary.js';

/** Scope of the statistics: `numbers/count`, `numbers/mean` and `numbers/variance`, a value for each float. */
export const NUMBERS = 'numbers';

/** Examples that count alike; with more of them each counts a millionth. */
const COUNT_MAX = 2 ** 20;
/** Deviations from the mean beyond this are cut off: one slip in the data must not move the whole model. */
const DEVIATIONS_MAX = 10;
/** What may be mistaken for variance because floats end: relative to the square of the mean, and absolute. */
const [RELATIVE, ABSOLUTE] = [1e-12, 1e-12];

/** The numbers of a schema that a model sees standardised, by name. */
export function standardised(features: Features, inputs: Readonly<Record<string, unknown>>): Map<string, Tensor> {
  const names = Object.entries(features).flatMap(([name, { field }]) =>
    field?.role === 'number' && field.standardise ? [name] : [],
  );
  if (names.length === 0) return new Map();
  const tensors = names.map((name) => inputs[name] as Tensor);
  const { graph } = tensors[0]!;
  const all = graph.nameScope(NUMBERS, () => standardise(graph, concatColumns(tensors)));
  let from = 0;
  return new Map(
    tensors.map((tensor, index) => {
      const start = from;
      from += tensor.columns;
      const whole = tensors.length === 1;
      return [
        names[index]!,
        whole && tensor.columns > 1 ? all : columns(all, start, from, { name: `${NUMBERS}/${names[index]}` }),
      ];
    }),
  );
}

function standardise(graph: Graph, raw: Tensor): Tensor {
  const shape = raw.spec.shape.slice(1) as readonly number[];
  const filled = (value: number) => () => new Float32Array(raw.columns).fill(value);
  const state = (name: string, value: number) =>
    variable(graph, { name, shape, initial: filled(value), trainable: false });
  const count = state('count', 0);
  const mean = state('mean', 0);
  const variance = state('variance', 1);

  const present = greaterEqual(raw, MISSING_NUMBER / 2);
  const x = mul(raw, present);
  const overBatch = (value: Tensor) => batchSum(reduceSum(value, { axis: 'batch' }));
  const seen = overBatch(present);
  const many = maximum(seen, 1);
  const batchMean = div(overBatch(x), many);
  const batchVariance = div(overBatch(square(mul(sub(x, batchMean), present))), many);

  // The batch as a share of all examples so far: its statistics and theirs put together.
  const total = maximum(minimum(add(count, seen), COUNT_MAX), seen);
  const share = div(seen, maximum(total, 1));
  const step = sub(batchMean, mean);
  const nextMean = add(mean, mul(share, step));
  const older = mul(sub(1, share), add(variance, mul(share, square(step))));
  const nextVariance = add(older, mul(share, batchVariance));
  for (const [target, next] of [
    [count, total],
    [mean, nextMean],
    [variance, nextVariance],
  ] as const) {
    graph.addToCollection(UPDATE_OPS, assign(target, next));
  }

  const [centre, spread] = [ifTraining(nextMean, mean), ifTraining(nextVariance, variance)];
  const noise = add(mul(square(centre), RELATIVE), ABSOLUTE);
  const deviations = div(sub(x, centre), sqrt(add(spread, noise)));
  return mul(clipByValue(deviations, -DEVIATIONS_MAX, DEVIATIONS_MAX), present);
}
