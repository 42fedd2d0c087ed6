/** @file What an op needs to be in a file: its definition, its inputs, and its attributes both ways. */
import type { OpDef, Tensor } from '../graph/graph.js';
import type { Attributes, JsonObject } from './attributes.js';

export interface PortableOp {
  readonly def: OpDef<unknown>;
  /** Inputs it has, or the least and the most of them. */
  readonly inputs: number | readonly [number, number];
  /** Of the op, as a file has them. */
  write(attrs: unknown): JsonObject | undefined;
  /** The same back, checked against the inputs. */
  read(attributes: Attributes, inputs: readonly Tensor[]): unknown;
}

/** An op whose attributes are plain data. */
export function portable<A>(
  def: OpDef<A>,
  inputs: PortableOp['inputs'],
  read: (attributes: Attributes, inputs: readonly Tensor[]) => A,
  write: (attrs: A) => JsonObject = (attrs) => attrs as JsonObject,
): PortableOp {
  return { def: def as OpDef<unknown>, inputs, read, write: (attrs) => write(attrs as A) };
}

/** An op without attributes. */
export function plain(def: OpDef<null>, inputs: PortableOp['inputs']): PortableOp {
  return { def: def as OpDef<unknown>, inputs, read: () => null, write: () => undefined };
}
