/**
 * @file Fetches in lists and dictionaries: flattened once, and the values put back where the fetches were.
 *
 * A structure is known by its object, as a plain list of fetches is: change a copy, not the one that was run.
 */
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import { type Graph, Op, Tensor } from '../graph/graph.js';
import { type LeafKinds, NestedTensors } from '../tensor/nested.js';
import type { FetchValue } from './fetch.js';

export type Fetch = Tensor | Op;
/** A fetch, or lists and dictionaries of them to any depth; null stays null. */
export type FetchTree = Fetch | null | undefined | readonly FetchTree[] | { readonly [key: string]: FetchTree };

/** What a run of `F` gives: the same structure with values, and `undefined` for an op. */
export type Fetched<F> = F extends Op
  ? undefined
  : F extends Tensor
    ? number | Float32Array | BigInt64Array
    : F extends Fetch
      ? FetchValue
      : F extends readonly unknown[]
        ? { -readonly [K in keyof F]: Fetched<F[K]> }
        : F extends object
          ? { -readonly [K in keyof F]: Fetched<F[K]> }
          : F;

export interface FlatFetches {
  readonly fetches: readonly Fetch[];
  rebuild(values: readonly FetchValue[]): unknown;
}

const isFetch = (leaf: unknown): leaf is Fetch => leaf instanceof Tensor || leaf instanceof Op;

/** What to say to a fetch that is none: for a name that is nearly one of the graph, which. */
export function notAFetch(graph: Graph, leaf: unknown): MonolithError {
  const op = String(leaf);
  const reason = 'a fetch is a tensor or an op, not its name';
  if (typeof leaf !== 'string') return new MonolithError('ML_GRAPH', { op, reason });
  const names = graph.ops.flatMap(({ name, outputs }) => [name, ...outputs.map((output) => output.name)]);
  const hint = names.includes(leaf) ? `fetch graph.tensor('${leaf}') or graph.op('${leaf}')` : didYouMean(leaf, names);
  return new MonolithError('ML_GRAPH', { op, reason }, hint === undefined ? {} : { hint });
}

const leavesOf = (graph: Graph): LeafKinds<Fetch, never> => ({
  isTensor: isFetch,
  isRagged: (leaf): leaf is never => false,
  isVariable: () => false,
  keeps(leaf) {
    if (typeof leaf === 'object') return false;
    throw notAFetch(graph, leaf);
  },
  raggedRank: () => 1,
  flatten: (ragged) => ragged,
  unflatten: (values) => values as never,
});

const known = new WeakMap<object, FlatFetches>();

/** Whether it is a plain list of fetches, which needs no rebuilding. */
export function isFlat(tree: FetchTree): tree is readonly Fetch[] {
  return Array.isArray(tree) && tree.every((item) => typeof item !== 'object' || isFetch(item));
}

export function flattenFetches(tree: FetchTree, graph: Graph): FlatFetches {
  const key = typeof tree === 'object' && tree !== null ? tree : undefined;
  const found = key && known.get(key);
  if (found !== undefined) return found;
  const walk = new NestedTensors<Fetch, never>(tree, leavesOf(graph));
  const flat: FlatFetches = {
    fetches: walk.getTensors(),
    rebuild: (values) => walk.mapResult(values, (value) => value),
  };
  if (key !== undefined) known.set(key, flat);
  return flat;
}
