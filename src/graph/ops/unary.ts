/** @file Elementwise functions of one operand, each with its gradient. All that is exported here is in `ops`. */
import type { Tensor } from '../graph.js';
import { add, binary, scale } from './elementwise.js';
import { nameOf, type OpOptions } from './options.js';
import { unaryOp } from './unary-op.js';

/** 1, 0 or -1. */
export const sign = unaryOp('sign', () => undefined);
/** |x|. */
export const abs = unaryOp('abs', (grad, x) => binary('mul', grad, sign(x)));
/** The square root of each element. */
export const sqrt = unaryOp('sqrt', (grad, _, y) => scale(binary('div', grad, y), 0.5));
/** e to the power of each element. */
export const exp = unaryOp('exp', (grad, _, y) => binary('mul', grad, y));
/** The natural logarithm of each element. */
export const log = unaryOp('log', (grad, x) => binary('div', grad, x));
/** log(1 + x) of each element, exact near 0 too: the usual form of counts. */
export const log1p = unaryOp(
  'log1p',
  (grad, x) => binary('div', grad, add(x, 1)),
  (words, x) => words.unary('log', words.binary('add', x, words.number(1))),
);
/** -x. */
export const neg = (x: Tensor, options: OpOptions = {}): Tensor =>
  scale(x, -1, { name: nameOf('neg', options, 'Neg') });
/** x * x. */
export const square = (x: Tensor, options: OpOptions = {}): Tensor =>
  binary('mul', x, x, nameOf('square', options, 'Square'));
