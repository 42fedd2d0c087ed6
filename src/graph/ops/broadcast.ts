/**
 * @file Sums to a narrower shape and their reverse, values repeated over rows or columns: what broadcasting is made of.
 *
 * A sum over the batch is partial (see TensorSpec) until `batchSum` completes it.
 */

import { checkOptions } from '../../base/check-options.js';
import { type Dim, elementCount, misfit, type OpDef, sameShape, shapeText, type Tensor } from '../graph.js';
import { batchSum } from './batch-sum.js';
import { floats } from './checks.js';
import type { OpOptions } from './options.js';

export interface ResizeAttrs {
  readonly shape: readonly Dim[];
  /** Divide by the number of examples of the batch. */
  readonly perBatch: boolean;
}

export interface BroadcastOptions extends OpOptions {
  /** Divide by the number of examples of the batch. Default: false. */
  readonly perBatch?: boolean;
}

/** What is summed, or repeated, between two shapes. Shared matrices have rows too: all but their last dimension. */
export type Spread = 'none' | 'rows' | 'columns' | 'all';

export function spreadOf(wide: readonly Dim[], narrow: readonly Dim[]): Spread | undefined {
  const size = (shape: readonly Dim[]) => elementCount(shape[0] === 'batch' ? shape.slice(1) : shape);
  const [wideCount, narrowCount] = [size(wide), size(narrow)];
  if (wide[0] === 'batch') {
    if (narrow[0] === 'batch') return narrowCount === wideCount ? 'none' : narrowCount === 1 ? 'columns' : undefined;
    if (narrowCount === 1) return 'all';
    return narrowCount === wideCount ? 'rows' : undefined;
  }
  if (narrow[0] === 'batch') return undefined;
  if (narrowCount === 1) return wideCount === 1 ? 'none' : 'all';
  if (narrowCount === wideCount) return 'none';
  const last = wide.at(-1) as number;
  if (narrow.at(-1) === last && narrowCount === last) return 'rows';
  return narrow.at(-1) === 1 && narrowCount * last === wideCount ? 'columns' : undefined;
}

export const SumTo: OpDef<ResizeAttrs> = {
  type: 'Sum',
  infer: ([x], { shape }) => {
    const { spec, perExample } = floats('Sum', x!);
    if (spreadOf(spec.shape, shape) === undefined) {
      throw misfit('Sum', `${shapeText(spec.shape)} cannot be summed to ${shapeText(shape)}`);
    }
    const isSum = spec.partial || (perExample && shape[0] !== 'batch');
    return [{ dtype: 'float32', shape, ...(isSum && { partial: true }) }];
  },
  gradient: (op, [grad]) => [grad && broadcastTo(grad, op.inputs[0]!.spec.shape, { perBatch: op.attrs.perBatch })],
};

/** Sum over whatever `shape` lacks. */
export function sumTo(x: Tensor, shape: readonly Dim[], options: BroadcastOptions = {}): Tensor {
  const { perBatch = false, name } = checkOptions('sumTo', options, ['perBatch', 'name']);
  if (sameShape(x.spec.shape, shape) && !perBatch) return x;
  return x.graph.add(SumTo, [x], { shape, perBatch }, name).output;
}

export const BroadcastTo: OpDef<ResizeAttrs> = {
  type: 'BroadcastTo',
  infer: ([x], { shape }) => {
    const { spec } = floats('BroadcastTo', x!);
    if (spreadOf(shape, spec.shape) === undefined) {
      throw misfit('BroadcastTo', `${shapeText(spec.shape)} cannot be repeated to ${shapeText(shape)}`);
    }
    if (spec.partial && shape[0] === 'batch') throw misfit('BroadcastTo', `${x!.name} must be completed with batchSum`);
    return [{ ...spec, shape }];
  },
  gradient: (op, [grad]) => [grad && sumTo(grad, op.inputs[0]!.spec.shape, { perBatch: op.attrs.perBatch })],
};

/** The values of `x` repeated over rows, columns or both. */
export function broadcastTo(x: Tensor, shape: readonly Dim[], options: BroadcastOptions = {}): Tensor {
  const { perBatch = false, name } = checkOptions('broadcastTo', options, ['perBatch', 'name']);
  if (sameShape(x.spec.shape, shape) && !perBatch) return x;
  const whole = shape[0] === 'batch' ? batchSum(x) : x;
  return x.graph.add(BroadcastTo, [whole], { shape, perBatch }, name).output;
}
