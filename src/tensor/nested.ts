/**
 * @file Flattens nested lists and dictionaries into their tensors and rebuilds them around other tensors.
 *
 * Mirrors native_training/nested_tensors. Upstream overwrites the input with object ids; here the structure is kept
 * apart as a tree of places, and the input is left alone. What counts as a tensor is given from outside, so that the
 * graph can pass its symbolic tensors through the same walk. A frozen list is a tuple and comes back frozen.
 */
import { inspect } from 'node:util';
import { MonolithError } from '../base/errors.js';
import { RaggedTensor, type RowSplits } from './ragged-tensor.js';
import { Tensor } from './tensor.js';

/** What the leaves are. A ragged leaf travels as two tensors. */
export interface LeafKinds<T, R> {
  isTensor(leaf: unknown): leaf is T;
  isRagged(leaf: unknown): leaf is R;
  /** Objects that are kept aside as they are. */
  isVariable(leaf: unknown): boolean;
  /** Which other values are kept aside. Default: booleans, whole numbers and strings. */
  keeps?(leaf: unknown): boolean;
  raggedRank(ragged: R): number;
  flatten(ragged: R): readonly [values: T, rowSplits: T];
  unflatten(values: T, rowSplits: T): R;
}

export const TENSOR_LEAVES: LeafKinds<Tensor, RaggedTensor> = {
  isTensor: (leaf): leaf is Tensor => leaf instanceof Tensor,
  isRagged: (leaf): leaf is RaggedTensor => leaf instanceof RaggedTensor,
  isVariable: () => false,
  raggedRank: (ragged) => ragged.raggedRank,
  flatten: (ragged) => [ragged.values as Tensor, ragged.rowSplits],
  unflatten: (values, rowSplits) => RaggedTensor.fromRowSplits(values, rowSplits as RowSplits, { validate: false }),
};

/** A place of the structure: where its value comes from when it is rebuilt. */
type Place =
  | { readonly kind: 'list'; readonly items: readonly Place[]; readonly frozen: boolean }
  | { readonly kind: 'dict'; readonly entries: readonly (readonly [string, Place])[] }
  | { readonly kind: 'tensor' | 'ragged'; readonly index: number }
  | { readonly kind: 'kept'; readonly value: unknown };

/**
 * Takes the tensors out of nested lists and dictionaries, and puts others in their places.
 *
 * ```ts
 * const nested = new NestedTensors({ a: x, b: [y, 'name', null] });
 * nested.getTensors(); // [x, y]
 * nested.getNestedResult([p, q]); // { a: p, b: [q, 'name', null] }
 * ```
 */
export class NestedTensors<T = Tensor, R = RaggedTensor> {
  readonly #kinds: LeafKinds<T, R>;
  /** Leaf → index, in order of the first visit: the same object counts once. */
  readonly #tensors = new Map<T, number>();
  readonly #ragged = new Map<R, number>();
  readonly #root: Place;
  /** Lists and dictionaries that the walk is inside of. */
  readonly #inside = new Set<object>();

  constructor(
    nested: unknown,
    ...kinds: [T, R] extends [Tensor, RaggedTensor] ? [LeafKinds<T, R>?] : [LeafKinds<T, R>]
  ) {
    // Left out only where T and R are those of values, says the type of the parameter.
    this.#kinds = kinds[0] ?? (TENSOR_LEAVES as unknown as LeafKinds<T, R>);
    this.#root = this.#visit(nested);
  }

  /** Dense leaves in order of visit, then values and row splits of each ragged leaf. */
  getTensors(): T[] {
    return [...this.#tensors.keys(), ...[...this.#ragged.keys()].flatMap((ragged) => this.#kinds.flatten(ragged))];
  }

  /** The structure around other tensors, given in the order of getTensors. */
  getNestedResult(tensors: readonly T[]): unknown {
    return this.mapResult(tensors, this.#kinds.unflatten);
  }

  /**
   * The structure around anything else, one for each tensor of getTensors: placeholders for values, say. Of what stands
   * for the values and the row splits of a ragged leaf, `unflatten` makes what takes its place.
   */
  mapResult<U>(items: readonly U[], unflatten: (values: U, rowSplits: U) => unknown): unknown {
    const dense = this.#tensors.size;
    const expected = dense + 2 * this.#ragged.size;
    if (items.length !== expected) throw new MonolithError('ML_NESTED_COUNT', { expected, found: items.length });
    const ragged = Array.from({ length: this.#ragged.size }, (_, i) =>
      unflatten(items[dense + 2 * i]!, items[dense + 2 * i + 1]!),
    );
    return rebuild(this.#root, items, ragged);
  }

  #visit(value: unknown): Place {
    if (value === null || value === undefined) return { kind: 'kept', value };
    if (this.#kinds.isTensor(value)) return { kind: 'tensor', index: indexIn(this.#tensors, value) };
    if (this.#kinds.isRagged(value)) {
      if (this.#kinds.raggedRank(value) !== 1) throw new MonolithError('ML_NESTED_RAGGED');
      return { kind: 'ragged', index: indexIn(this.#ragged, value) };
    }
    if ((this.#kinds.keeps ?? isConstant)(value) || this.#kinds.isVariable(value)) return { kind: 'kept', value };
    if ((Array.isArray(value) || isDict(value)) && !this.#inside.has(value)) return this.#visitInside(value);
    throw new MonolithError('ML_NESTED_LEAF', { leaf: inspect(value, { depth: 1 }) });
  }

  #visitInside(value: readonly unknown[] | Record<string, unknown>): Place {
    this.#inside.add(value);
    const place: Place = Array.isArray(value)
      ? { kind: 'list', items: value.map((item) => this.#visit(item)), frozen: Object.isFrozen(value) }
      : { kind: 'dict', entries: Object.entries(value).map(([key, item]) => [key, this.#visit(item)] as const) };
    this.#inside.delete(value);
    return place;
  }
}

function indexIn<K>(seen: Map<K, number>, leaf: K): number {
  const index = seen.get(leaf) ?? seen.size;
  seen.set(leaf, index);
  return index;
}

function rebuild(place: Place, tensors: readonly unknown[], ragged: readonly unknown[]): unknown {
  switch (place.kind) {
    case 'list': {
      const items = place.items.map((item) => rebuild(item, tensors, ragged));
      return place.frozen ? Object.freeze(items) : items;
    }
    case 'dict':
      return Object.fromEntries(place.entries.map(([key, item]) => [key, rebuild(item, tensors, ragged)]));
    case 'tensor':
      return tensors[place.index];
    case 'ragged':
      return ragged[place.index];
    case 'kept':
      return place.value;
    default:
      place satisfies never;
      throw new MonolithError('ML_NESTED_LEAF', { leaf: place });
  }
}

/** bool, int and str of upstream; a fraction is none of them and must come as a tensor. */
function isConstant(value: unknown): boolean {
  return ['boolean', 'string', 'bigint'].includes(typeof value) || Number.isInteger(value);
}

function isDict(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
