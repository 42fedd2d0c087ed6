/** @file Checks the ops share: a wrong call names the op and what does not fit. */
import { MonolithError } from '../../base/errors.js';
import type { Tensor } from '../tensor.js';

/** Throws ML_OP with `reason` unless `holds`. For checks per call: the reason is made either way. */
export function check(holds: boolean, op: string, reason: string): asserts holds {
  if (!holds) refuse(op, reason);
}

/** Throws ML_OP. For checks per element, which must not pay for a sentence nobody reads. */
export function refuse(op: string, reason: string): never {
  throw new MonolithError('ML_OP', { op, reason });
}

/** Rows and columns of a rank 2 tensor. */
export function matrixShape(op: string, name: string, tensor: Tensor): [rows: number, cols: number] {
  check(tensor.rank === 2, op, `${name} must have rank 2, not shape [${tensor.shape}]`);
  return [tensor.shape[0]!, tensor.shape[1]!];
}

/** `count` as a whole number from `least`. */
export function checkCount(op: string, name: string, count: number, least = 0): void {
  check(
    Number.isSafeInteger(count) && count >= least,
    op,
    `${name} must be a whole number from ${least}, not ${count}`,
  );
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
