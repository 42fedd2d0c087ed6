/**
 * @file Elementwise ops of several operands, with broadcasting, and their gradients.
 *
 * Shapes may differ where one side repeats: a number or a vector over all rows, one value per example over the columns.
 * A sum over the batch stays one where the op is linear in it, and is completed where it is not.
 */

import type { BINARY_KIND } from '../../memory/kinds.js';
import { type Dim, misfit, type OpDef, sameShape, shapeText, Tensor } from '../graph.js';
import { asPartial, batchSum } from './batch-sum.js';
import { spreadOf, sumTo } from './broadcast.js';
import { floats, rowsOfFloats, same } from './checks.js';
import { nameOf, type OpOptions } from './options.js';
import { constant } from './state.js';

export const AddN: OpDef<null> = {
  type: 'AddN',
  infer: (inputs) => {
    if (inputs.length === 0) throw misfit('AddN', 'there is nothing to add');
    for (const input of inputs) same('AddN', inputs[0]!, input);
    return [inputs[0]!.spec];
  },
  gradient: (op, [grad]) => op.inputs.map(() => grad),
};

/** Sum of tensors of one shape. */
export function addN(inputs: readonly Tensor[], options: OpOptions = {}): Tensor {
  if (inputs.length === 1) return inputs[0]!;
  const first = inputs[0];
  if (first === undefined) throw misfit('AddN', 'there is nothing to add');
  return first.graph.add(AddN, inputs, null, nameOf('addN', options)).output;
}

export const Scale: OpDef<{ readonly factor: number }> = {
  type: 'Scale',
  infer: ([x]) => [floats('Scale', x!).spec],
  gradient: (op, [grad]) => [grad && scale(grad, op.attrs.factor)],
};

/** x times a number. */
export function scale(x: Tensor, factor: number, options: OpOptions = {}): Tensor {
  return x.graph.add(Scale, [x], { factor }, nameOf('scale', options)).output;
}

export type BinaryKind = keyof typeof BINARY_KIND;

export interface BinaryAttrs {
  readonly kind: BinaryKind;
}

export const Binary: OpDef<BinaryAttrs> = {
  type: 'Binary',
  infer: ([a, b], { kind }) => {
    floats(kind, a!);
    floats(kind, b!);
    const shape = commonShape(kind, a!, b!);
    const parts = [a!, b!].filter(({ spec }) => spec.partial).length;
    const linear = kind === 'add' || kind === 'sub' ? parts === 2 : parts === 1 && (kind === 'mul' || !b!.spec.partial);
    if (parts > 0 && (!linear || shape[0] === 'batch' || kind === 'maximum' || kind === 'minimum')) {
      throw misfit(kind, 'a sum over the batch must be completed with batchSum before it is used here');
    }
    return [{ dtype: 'float32', shape, ...(parts > 0 && { partial: true }) }];
  },
  gradient: (op, [grad]) => {
    const [a, b] = op.inputs as [Tensor, Tensor];
    if (grad === undefined) return [undefined, undefined];
    const [forA, forB] = binaryGradients(op.attrs.kind, grad, a, b, op.output);
    return [forA && sumTo(forA, a.spec.shape), forB && sumTo(forB, b.spec.shape)];
  },
};

function binaryGradients(kind: BinaryKind, grad: Tensor, a: Tensor, b: Tensor, y: Tensor): (Tensor | undefined)[] {
  switch (kind) {
    case 'add':
      return [grad, grad];
    case 'sub':
      return [grad, scale(grad, -1, { name: 'Neg' })];
    case 'mul':
      return [binary('mul', grad, b), binary('mul', grad, a)];
    case 'div':
      return [binary('div', grad, b), scale(binary('div', binary('mul', grad, y), b), -1, { name: 'Neg' })];
    case 'maximum':
    case 'minimum': {
      // Where both are equal the first one gets it all, as in TensorFlow.
      const chosen = kind === 'maximum' ? binary('greaterEqual', a, b) : binary('greaterEqual', b, a);
      const first = binary('mul', grad, chosen);
      return [first, binary('sub', grad, first)];
    }
    case 'greaterEqual':
    case 'equal':
      return [undefined, undefined];
    default:
      return kind satisfies never;
  }
}

function commonShape(kind: string, a: Tensor, b: Tensor): readonly Dim[] {
  const [left, right] = [a.spec.shape, b.spec.shape];
  if (sameShape(left, right)) return left;
  const wide = (x: readonly Dim[], y: readonly Dim[]) => {
    const spread = spreadOf(x, y);
    // A vector lies along the last dimensions: its sizes must be those of the row it is repeated over.
    return spread !== undefined && (spread !== 'rows' || sameShape(x.slice(-y.length), y));
  };
  if (wide(left, right)) return left;
  if (wide(right, left)) return right;
  throw misfit(kind, `shapes ${shapeText(left)} and ${shapeText(right)} do not fit together`);
}

/** An elementwise op with broadcasting; sums over the batch are completed where the op is not linear in them. */
export function binary(kind: BinaryKind, a: Tensor, b: Tensor, name: string = kind): Tensor {
  return a.graph.add(Binary, completedOperands(kind, a, b), { kind }, name).output;
}

function completedOperands(kind: BinaryKind, a: Tensor, b: Tensor): [Tensor, Tensor] {
  const parts = (a.spec.partial ? 1 : 0) + (b.spec.partial ? 1 : 0);
  if (parts === 0) return [a, b];
  if (!a.perExample && !b.perExample) {
    if (kind === 'add' || kind === 'sub') return [asPartial(a), asPartial(b)];
    if (kind === 'mul') return [a, parts === 2 ? batchSum(b) : b];
    if (kind === 'div') return [a, batchSum(b)];
  }
  return [batchSum(a), batchSum(b)];
}

/** A tensor, or a number that is meant for all elements. */
export type Operand = Tensor | number;

/** Both operands as tensors: a number becomes a constant. */
export function operandsOf(a: Operand, b: Operand): [Tensor, Tensor] {
  const tensor = a instanceof Tensor ? a : b;
  if (!(tensor instanceof Tensor)) throw misfit('elementwise', 'one operand must be a tensor');
  const of = (x: Operand) => (x instanceof Tensor ? x : constant(tensor.graph, [x], { shape: [] }));
  return [of(a), of(b)];
}

/** Whether two tensors have one shape and are both sums over the batch, or neither. */
export const alike = (a: Tensor, b: Tensor): boolean =>
  sameShape(a.spec.shape, b.spec.shape) && (a.spec.partial ?? false) === (b.spec.partial ?? false);

/** Sum, with broadcasting. */
export function add(x: Operand, y: Operand, options: OpOptions = {}): Tensor {
  const name = nameOf('add', options, 'add');
  const [a, b] = operandsOf(x, y);
  return alike(a, b) ? addN([a, b], { name }) : binary('add', a, b, name);
}

export const Sub: OpDef<null> = {
  type: 'Sub',
  infer: ([a, b]) => [same('Sub', a!, b!)],
  gradient: (_, [grad]) => [grad, grad && scale(grad, -1)],
};

/** Difference, with broadcasting. */
export function sub(a: Operand, b: Operand, options: OpOptions = {}): Tensor {
  const name = nameOf('sub', options, 'Sub');
  const [x, y] = operandsOf(a, b);
  return alike(x, y) ? x.graph.add(Sub, [x, y], null, name).output : binary('sub', x, y, name);
}

export const Mul: OpDef<null> = {
  type: 'Mul',
  infer: ([a, b]) => [same('Mul', rowsOfFloats('Mul', a!), b!)],
  gradient: (op, [grad]) => [grad && mul(grad, op.inputs[1]!), grad && mul(grad, op.inputs[0]!)],
};

/** Elementwise product, with broadcasting. */
export function mul(a: Operand, b: Operand, options: OpOptions = {}): Tensor {
  const name = nameOf('mul', options, 'Mul');
  const [x, y] = operandsOf(a, b);
  return x.perExample && alike(x, y) ? x.graph.add(Mul, [x, y], null, name).output : binary('mul', x, y, name);
}

/** Quotient, with broadcasting. */
export const div = (x: Operand, y: Operand, options: OpOptions = {}): Tensor =>
  binary('div', ...operandsOf(x, y), nameOf('div', options, 'div'));

/** The larger of two, with broadcasting; a NaN of either stays. */
export const maximum = (x: Operand, y: Operand, options: OpOptions = {}): Tensor =>
  binary('maximum', ...operandsOf(x, y), nameOf('maximum', options, 'Maximum'));
/** The smaller of two, with broadcasting. */
export const minimum = (x: Operand, y: Operand, options: OpOptions = {}): Tensor =>
  binary('minimum', ...operandsOf(x, y), nameOf('minimum', options, 'Minimum'));
/** 1 where x >= y, else 0. */
export const greaterEqual = (x: Operand, y: Operand, options: OpOptions = {}): Tensor =>
  binary('greaterEqual', ...operandsOf(x, y), nameOf('greaterEqual', options, 'GreaterEqual'));
/** 1 where both are equal, else 0. */
export const equal = (x: Operand, y: Operand, options: OpOptions = {}): Tensor =>
  binary('equal', ...operandsOf(x, y), nameOf('equal', options, 'Equal'));
