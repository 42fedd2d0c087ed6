/** @file Inputs and identities the tests of the tensor ops share. */
import assert from 'node:assert/strict';
import { type Shape, sizeOfShape, Tensor } from '../../../src/tensor/tensor.js';

/**
 * Small whole numbers that follow from `seed`: sums of products of them are exact, so adjoint identities hold to the
 * bit.
 */
export function wholeTensor(shape: Shape, seed: number): Tensor<'float32'> {
  let state = seed | 0;
  const data = Float32Array.from({ length: sizeOfShape(shape) }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return ((state >>> 24) % 9) - 4;
  });
  return new Tensor('float32', shape, data);
}

export function dot(a: readonly Tensor<'float32'>[], b: readonly Tensor<'float32'>[]): number {
  assert.equal(a.length, b.length);
  return a.reduce((total, tensor, i) => {
    assert.deepEqual(tensor.shape, b[i]!.shape);
    return total + tensor.data.reduce((sum, x, at) => sum + x * b[i]!.data[at]!, 0);
  }, 0);
}

/** Central differences of `value` with respect to each entry of `x`. */
export function numericGradient(
  x: Tensor<'float32'>,
  value: (x: Tensor<'float32'>) => number,
  step = 2 ** -6,
): number[] {
  return Array.from(x.data, (_, i) => {
    const moved = (by: number) => {
      const data = x.data.slice();
      data[i] = data[i]! + by;
      return value(new Tensor('float32', x.shape, data));
    };
    return (moved(step) - moved(-step)) / (2 * step);
  });
}

export function close(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number): void {
  assert.equal(actual.length, expected.length);
  for (let i = 0; i < actual.length; i++) {
    const gap = Math.abs(actual[i]! - expected[i]!);
    assert.ok(gap <= tolerance * (1 + Math.abs(expected[i]!)), `entry ${i} is ${actual[i]}, not ${expected[i]}`);
  }
}
