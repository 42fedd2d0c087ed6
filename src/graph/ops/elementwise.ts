/**
 * @file Elementwise ops with broadcasting, and their gradients.
 *
 * Shapes may differ where one side repeats: a number or a vector over all rows, one value per example over the columns.
 * A sum over the batch stays one where the op is linear in it, and is completed where it is not.
 */
import { type Dim, misfit, type OpDef, sameShape, shapeText, Tensor } from '../graph.js';
import { asPartial, batchSum } from './batch-sum.js';
import { floats } from './checks.js';
import { addN, scale } from './math.js';
import { spreadOf, sumTo } from './reductions.js';
import { constant } from './state.js';

export type BinaryKind = 'add' | 'sub' | 'mul' | 'div' | 'maximum' | 'minimum' | 'greaterEqual' | 'equal';

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
      return [grad, neg(grad)];
    case 'mul':
      return [binary('mul', grad, b), binary('mul', grad, a)];
    case 'div':
      return [binary('div', grad, b), neg(binary('div', binary('mul', grad, y), b))];
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
  const of = (x: Operand) => (x instanceof Tensor ? x : constant(tensor.graph, [x], []));
  return [of(a), of(b)];
}

/** Whether two tensors have one shape and are both sums over the batch, or neither. */
export const alike = (a: Tensor, b: Tensor): boolean =>
  sameShape(a.spec.shape, b.spec.shape) && (a.spec.partial ?? false) === (b.spec.partial ?? false);

export function add(x: Operand, y: Operand, name = 'add'): Tensor {
  const [a, b] = operandsOf(x, y);
  return alike(a, b) ? addN([a, b], name) : binary('add', a, b, name);
}

export const div = (x: Operand, y: Operand, name = 'div'): Tensor => binary('div', ...operandsOf(x, y), name);
export const maximum = (x: Operand, y: Operand, name = 'Maximum'): Tensor =>
  binary('maximum', ...operandsOf(x, y), name);
export const minimum = (x: Operand, y: Operand, name = 'Minimum'): Tensor =>
  binary('minimum', ...operandsOf(x, y), name);
export const greaterEqual = (x: Operand, y: Operand, name = 'GreaterEqual'): Tensor =>
  binary('greaterEqual', ...operandsOf(x, y), name);
export const equal = (x: Operand, y: Operand, name = 'Equal'): Tensor => binary('equal', ...operandsOf(x, y), name);

// --- one operand -------------------------------------------------------------------------------------------------------

export type UnaryKind = 'abs' | 'sqrt' | 'exp' | 'log' | 'sign';

export const Unary: OpDef<{ readonly kind: UnaryKind }> = {
  type: 'Unary',
  infer: ([x], { kind }) => {
    if (floats(kind, x!).spec.partial) throw misfit(kind, `${x!.name} must be completed with batchSum`);
    return [x!.spec];
  },
  gradient: (op, [grad]) => [grad && unaryGradient(op.attrs.kind, grad, op.inputs[0]!, op.output)],
};

function unaryGradient(kind: UnaryKind, grad: Tensor, x: Tensor, y: Tensor): Tensor | undefined {
  switch (kind) {
    case 'abs':
      return binary('mul', grad, unary('sign', x));
    case 'sqrt':
      return scale(binary('div', grad, y), 0.5);
    case 'exp':
      return binary('mul', grad, y);
    case 'log':
      return binary('div', grad, x);
    case 'sign':
      return undefined;
    default:
      return kind satisfies never;
  }
}

function unary(kind: UnaryKind, x: Tensor, name: string = kind): Tensor {
  return x.graph.add(Unary, [batchSum(x)], { kind }, name).output;
}

export const abs = (x: Tensor, name = 'Abs'): Tensor => unary('abs', x, name);
export const sqrt = (x: Tensor, name = 'Sqrt'): Tensor => unary('sqrt', x, name);
export const exp = (x: Tensor, name = 'Exp'): Tensor => unary('exp', x, name);
export const log = (x: Tensor, name = 'Log'): Tensor => unary('log', x, name);
export const sign = (x: Tensor, name = 'Sign'): Tensor => unary('sign', x, name);
export const neg = (x: Tensor, name = 'Neg'): Tensor => scale(x, -1, name);
export const square = (x: Tensor, name = 'Square'): Tensor => binary('mul', x, x, name);

export const StopGradient: OpDef<null> = {
  type: 'StopGradient',
  infer: ([x]) => [x!.spec],
  gradient: () => [undefined],
};

/** `x`, which counts as a constant when gradients are taken. */
export function stopGradient(x: Tensor, name?: string): Tensor {
  return x.graph.add(StopGradient, [x], null, name).output;
}
