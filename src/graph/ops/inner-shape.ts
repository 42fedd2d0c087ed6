/** @file What ops over the dimensions after the batch share: their sizes, and how an axis cuts a row. */

import { type Dim, elementCount, misfit, shapeText, type Tensor } from '../graph.js';
import type { OpOptions } from './options.js';

export interface AxisOptions extends OpOptions {
  /** The batch is axis 0, as in TensorFlow; -1 is the last one. Default: 1. */
  readonly axis?: number;
}

/** A row read as `[outer, n, inner]` floats, `n` being the size of the axis. */
export interface Cut {
  readonly axis: number;
  readonly outer: number;
  readonly n: number;
  readonly inner: number;
}

/** Sizes after the batch of a float tensor that has a row per example. */
export function innerShape(type: string, tensor: Tensor): readonly number[] {
  if (tensor.spec.dtype !== 'float32' || !tensor.perExample) {
    throw misfit(type, `${tensor.name} of shape ${shapeText(tensor.spec.shape)} has no floats per example`);
  }
  return tensor.spec.shape.slice(1) as number[];
}

/** How `axis` cuts the rows of `tensor`. The batch is axis 0, as in TensorFlow; -1 is the last one. */
export function cutAt(type: string, tensor: Tensor, axis: number): Cut {
  const sizes = innerShape(type, tensor);
  const index = axis < 0 ? sizes.length + axis : axis - 1;
  if (!Number.isInteger(index) || index < 0 || index >= sizes.length) {
    throw misfit(type, `${tensor.name} of shape ${shapeText(tensor.spec.shape)} has no inner axis ${axis}`);
  }
  const inner = elementCount(sizes.slice(index + 1));
  return { axis: index + 1, outer: elementCount(sizes.slice(0, index)), n: sizes[index]!, inner };
}

/** The shape with the axis set to `n`, or left out without one. */
export function withAxis(shape: readonly Dim[], axis: number, n?: number): readonly Dim[] {
  return [...shape.slice(0, axis), ...(n === undefined ? [] : [n]), ...shape.slice(axis + 1)];
}

/** Refuses what is not a whole number of at least `least`. */
export function checkWhole(type: string, what: string, value: number, least = 1): number {
  if (!Number.isInteger(value) || value < least) throw misfit(type, `${what} cannot be ${value}`);
  return value;
}
