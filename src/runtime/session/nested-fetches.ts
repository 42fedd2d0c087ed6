/**
 * @file Fetches in lists and dictionaries: flattened once, and the values put back where the fetches were.
 *
 * A structure is known by its object, as a plain list of fetches is: change a copy, not the one that was run.
 */
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import { type Graph, misfit, Op, Tensor } from '../../graph/graph.js';
import { type LeafKinds, NestedTensors } from '../../tensor/nested.js';
import type { FetchValue } from './fetch.js';

export type Fetch = Tensor | Op;
/**
 * A fetch or its name, or lists and dictionaries of them to any depth; null stays null. A name is that of a tensor,
 * `op:index`, or of an op: that is its first output, and the op itself where it has none.
 */
export type FetchTree =
  | Fetch
  | string
  | null
  | undefined
  | readonly FetchTree[]
  | { readonly [key: string]: FetchTree };

/**
 * What a run of `F` gives: the same structure with values, and `undefined` for an op; `unknown` of a tree of which
 * nothing is known.
 */
export type Fetched<F> = FetchTree extends F ? unknown : FetchedOf<F>;

type FetchedOf<F> = F extends Op
  ? undefined
  : F extends Tensor
    ? number | Float32Array | BigInt64Array
    : F extends string
      ? FetchValue
      : F extends object
        ? { -readonly [K in keyof F]: Fetched<F[K]> }
        : F;

export interface FlatFetches {
  readonly fetches: readonly Fetch[];
  rebuild(values: readonly FetchValue[]): unknown;
}

const isFetch = (leaf: unknown): leaf is Fetch => leaf instanceof Tensor || leaf instanceof Op;

/** What to say to a fetch that is none. */
export function notAFetch(leaf: unknown): MonolithError {
  return new MonolithError('ML_GRAPH', { op: String(leaf), reason: 'a fetch is a tensor, an op, or the name of one' });
}

/** The tensor or op of a name; for one that is nearly a name of the graph the error says which. */
export function fetchOf(graph: Graph, leaf: Fetch | string): Fetch {
  if (typeof leaf !== 'string') return leaf;
  for (const op of graph.ops) {
    if (op.name === leaf) return op.outputs[0] ?? op;
    const output = op.outputs.find(({ name }) => name === leaf);
    if (output !== undefined) return output;
  }
  const names = graph.ops.flatMap(({ name, outputs }) => [name, ...outputs.map((output) => output.name)]);
  throw misfit(leaf, 'there is no tensor and no op of this name to fetch', didYouMean(leaf, names));
}

const LEAVES: LeafKinds<Fetch | string, never> = {
  isTensor: (leaf): leaf is Fetch | string => isFetch(leaf) || typeof leaf === 'string',
  isRagged: (leaf): leaf is never => false,
  isVariable: () => false,
  keeps(leaf) {
    if (typeof leaf === 'object') return false;
    throw notAFetch(leaf);
  },
  raggedRank: () => 1,
  flatten: (ragged) => ragged,
  unflatten: (values) => values as never,
};

/** Structures by the graph that names in them are of. */
const known = new WeakMap<Graph, WeakMap<object, FlatFetches>>();

/** Whether it is a plain list of fetches, which needs no rebuilding. */
export function isFlat(tree: FetchTree): tree is readonly Fetch[] {
  return Array.isArray(tree) && tree.every(isFetch);
}

export function flattenFetches(tree: FetchTree, graph: Graph): FlatFetches {
  const key = typeof tree === 'object' && tree !== null ? tree : undefined;
  const ofGraph = known.get(graph) ?? new WeakMap<object, FlatFetches>();
  known.set(graph, ofGraph);
  const found = key && ofGraph.get(key);
  if (found !== undefined) return found;
  const walk = new NestedTensors<Fetch | string, never>(tree, LEAVES);
  const flat: FlatFetches = {
    fetches: walk.getTensors().map((leaf) => fetchOf(graph, leaf)),
    rebuild: (values) => walk.mapResult(values, (value) => value),
  };
  if (key !== undefined) ofGraph.set(key, flat);
  return flat;
}
