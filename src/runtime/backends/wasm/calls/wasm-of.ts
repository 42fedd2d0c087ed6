/**
 * @file Types of WASM exports from their plain twins in backends/reference, which have the memory as first argument.
 */
import type { Views } from '../../../../memory/views.js';

type Twin = (m: Views, ...args: never[]) => unknown;

/** The exports of a family: every function of its twins that works on memory, without the memory. */
export type WasmOf<Twins> = {
  readonly [K in keyof Twins as Twins[K] extends Twin ? K : never]: Twins[K] extends (
    m: Views,
    ...args: infer Arguments
  ) => infer Result
    ? (...args: Arguments) => Result
    : never;
};
