/**
 * @file The few operations that other systems have too, as an interface: what a prediction is made of once the ops of
 * this package are taken apart. Each format has an implementation, and the rules that take ops apart are written once.
 */
import type { CommonKind, CommonWords } from '../../graph/ops/unary-op.js';

/** A value of the graph that is being written. Its first size is the batch, or it is shared by all examples. */
export interface Value {
  readonly name: string;
  readonly perExample: boolean;
  /** Sizes after the batch, or all of a shared value. */
  readonly sizes: readonly number[];
}

/** What is fed. */
export interface Feed {
  readonly name: string;
  readonly kind: 'dense' | 'ids' | 'ragged';
  /** Values of an example; of a ragged feed unknown. */
  readonly width: number;
}

export type UnaryKind = CommonKind | 'relu' | 'sigmoid' | 'tanh' | 'softplus' | 'erf';
export type BinaryKind = 'add' | 'sub' | 'mul' | 'div' | 'maximum' | 'minimum' | 'greaterEqual' | 'equal';
export type ReduceKind = 'sum' | 'max';

/** Nodes of functions of one operand, which ONNX and TensorFlow call alike. */
export const UNARY_NODE: Readonly<Record<UnaryKind, string>> = {
  relu: 'Relu',
  sigmoid: 'Sigmoid',
  tanh: 'Tanh',
  exp: 'Exp',
  log: 'Log',
  sqrt: 'Sqrt',
  abs: 'Abs',
  sign: 'Sign',
  softplus: 'Softplus',
  erf: 'Erf',
};

/** How the rows of an example's ids become one; `firstN` keeps them apart. */
export type Pooling = 'sum' | 'mean' | { readonly firstN: number };

export interface TableRows {
  readonly name: string;
  readonly dim: number;
  readonly ids: BigInt64Array;
  /** Row after row. */
  readonly rows: Float32Array;
}

/** Axes count the sizes after the batch from 0, or of a shared value all sizes. Names are hints. */
export interface StandardGraph {
  constant(name: string, values: Float32Array, sizes: readonly number[]): Value;
  /** Floats that are fed, or int64s as floats. */
  floats(feed: Feed): Value;
  /** Pooled rows of ids that are fed: all of them, or of a feed with several for each example some columns. */
  lookup(feed: Feed, table: TableRows, pooling: Pooling, columns?: readonly [start: number, end: number]): Value;
  /** 1 for the first positions that have an id, of `n`. */
  sequenceMask(feed: Feed, n: number): Value;
  unary(kind: UnaryKind, x: Value): Value;
  /** Both have the same number of sizes, or one is shared; sizes of 1 are repeated. Comparisons are 0 and 1. */
  binary(kind: BinaryKind, a: Value, b: Value): Value;
  /** Products of the last two sizes; `b` may be shared. */
  matMul(a: Value, b: Value): Value;
  reshape(x: Value, sizes: readonly number[]): Value;
  transpose(x: Value, order: readonly number[]): Value;
  concat(list: readonly Value[], axis: number): Value;
  part(x: Value, axis: number, start: number, end: number): Value;
  gather(x: Value, axis: number, indices: readonly number[]): Value;
  /** The axis is gone afterwards. */
  reduce(kind: ReduceKind, x: Value, axis: number): Value;
  /** Over the last axis. */
  softmax(x: Value): Value;
  /** Of the last axis, largest first: values, and their places as floats. */
  topK(x: Value, k: number): readonly [Value, Value];
}

export const countOf = (sizes: readonly number[]): number => sizes.reduce((count, size) => count * size, 1);

/** Sizes of two values whose sizes of 1, or whose missing ones in front, are repeated. */
export function broadcast(a: readonly number[], b: readonly number[]): number[] {
  const rank = Math.max(a.length, b.length);
  const sized = (sizes: readonly number[]) => [...new Array<number>(rank - sizes.length).fill(1), ...sizes];
  const [left, right] = [sized(a), sized(b)];
  return left.map((size, axis) => Math.max(size, right[axis]!));
}

/** The graph with what is made of those operations. */
export class Shapes implements CommonWords<Value> {
  readonly graph: StandardGraph;

  constructor(graph: StandardGraph) {
    this.graph = graph;
  }

  number(value: number): Value {
    return this.graph.constant('number', Float32Array.of(value), []);
  }

  unary(kind: UnaryKind, x: Value): Value {
    return this.graph.unary(kind, x);
  }

  /** All floats of an example in one size. */
  flat(x: Value): Value {
    return this.sized(x, [countOf(x.sizes)]);
  }

  sized(x: Value, sizes: readonly number[]): Value {
    const same = x.sizes.length === sizes.length && x.sizes.every((size, axis) => size === sizes[axis]);
    return same ? x : this.graph.reshape(x, sizes);
  }

  scale(x: Value, factor: number): Value {
    return factor === 1 ? x : this.graph.binary('mul', x, this.number(factor));
  }

  /** Both with sizes that fit by repeating ones: a value per example stands before the sizes of the other. */
  binary(kind: BinaryKind, a: Value, b: Value): Value {
    const [left, right] = [this.#beside(a, b), this.#beside(b, a)];
    return this.graph.binary(kind, left, right);
  }

  #beside(x: Value, other: Value): Value {
    const rank = other.sizes.length;
    if (!x.perExample || !other.perExample || x.sizes.length === rank) return x;
    if (countOf(x.sizes) === 1) return this.sized(x, new Array(rank).fill(1));
    return x;
  }
}
