/**
 * @file Types that tell the inputs of a schema apart: floats per example, int64 numbers per example, and ragged ids.
 *
 * At run time all are tensors. For the compiler they carry a mark that no value has, so that ids given to an op of
 * floats, or floats to a lookup, do not compile. Tensors without a mark go everywhere, as in programs that have no
 * schema.
 */
import type { Graph, Op, Tensor } from './graph.js';

declare const mark: unique symbol;

/** A dense feature of a schema: `[batch]`, or `[batch, Width]`. Every op of floats takes it. */
export type DenseInput<Width extends number = number> = Tensor & {
  readonly [mark]: { readonly kind: 'floats'; readonly width: Width };
};

/** A ragged feature of a schema. Only lookups and ops of sequences take it. */
export interface RaggedInput {
  readonly [mark]: { readonly kind: 'ids' };
  readonly op: Op;
  readonly graph: Graph;
  readonly name: string;
}

/**
 * An int64 feature of a schema: `[batch]`, or `[batch, Width]`. Lookups and counters take it, and it is a time of rows.
 */
export interface Int64Input<Width extends number = number> {
  readonly [mark]: { readonly kind: 'int64'; readonly width: Width };
  readonly op: Op;
  readonly graph: Graph;
  readonly name: string;
}

/** What lookups take: a feature of ids, or a tensor that no schema says anything of. */
export type Ids = RaggedInput | Int64Input | (Tensor & { readonly [mark]?: never });

/** What counters and times take: one int64 for each example. */
export type Int64PerExample = Int64Input<1> | (Tensor & { readonly [mark]?: never });

/** The tensor behind int64 numbers. */
export function tensorOfInt64(value: Int64PerExample): Tensor {
  return value as Tensor;
}

/** The tensor behind ids. */
export function tensorOfIds(ids: Ids): Tensor {
  return ids as Tensor;
}
