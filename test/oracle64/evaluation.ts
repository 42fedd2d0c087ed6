/**
 * @file One step of a graph in float64: the values of its tensors and the gradients of some, from the ops' types,
 * attributes and shapes alone.
 */
import type { Op, Tensor } from '../../src/graph/graph.js';
import type { Bounded } from './bounded.js';
import { type Adjoints, Tape } from './tape.js';

/** The numbers of a tensor as nodes of the tape, row by row, with the batch as its first size where it has one. */
export interface Nodes {
  readonly ids: Int32Array;
  readonly shape: readonly number[];
}

/** Rows of ids of one feed: each row has its own length, or all have one. */
export type IdRows = readonly (readonly bigint[])[];
export type FeedValue = { readonly floats: ArrayLike<number> } | { readonly ids: IdRows };

/** What a step reads: feeds, variables, rows of tables. */
export interface World {
  readonly rows: number;
  readonly feeds: ReadonlyMap<string, FeedValue>;
  readonly training: boolean;
  readonly globalStep: number;
  readonly seed: number;
  variable(name: string): readonly Bounded[];
  /** Weights of a row; undefined for an id without one. */
  row(table: string, id: bigint): readonly Bounded[] | undefined;
}

/** What an op computes. `nodes` are its inputs; int64 inputs have no nodes and are asked for by `ids`. */
export type Rule = (op: Op, nodes: readonly Nodes[], evaluation: Evaluation) => readonly Nodes[];

export class Evaluation {
  readonly tape = new Tape();
  readonly world: World;
  readonly #rules: ReadonlyMap<string, Rule>;
  readonly #targets: ReadonlySet<Tensor>;
  readonly #memo = new Map<Op, readonly Nodes[]>();
  /** Nodes of the rows that a lookup read. */
  readonly #rowNodes = new Map<Op, Map<bigint, Int32Array>>();

  /**
   * Only of `targets` gradients can be asked for: these have nodes of their own, where views share those of what they
   * view.
   */
  constructor(rules: ReadonlyMap<string, Rule>, world: World, targets: Iterable<Tensor>) {
    this.#rules = rules;
    this.world = world;
    this.#targets = new Set(targets);
  }

  nodes(tensor: Tensor): Nodes {
    return this.#outputs(tensor.op)[tensor.index]!;
  }

  values(tensor: Tensor): Bounded[] {
    return Array.from(this.nodes(tensor).ids, (id) => this.tape.at(id));
  }

  sizes({ spec }: Tensor): number[] {
    return spec.shape.map((dim) => (dim === 'batch' ? this.world.rows : dim));
  }

  /** Makes a tensor of nodes. */
  made(tensor: Tensor, node: (index: number) => number): Nodes {
    const shape = this.sizes(tensor);
    const count = shape.reduce((product, size) => product * size, 1);
    const ids = new Int32Array(count);
    for (let i = 0; i < count; i++) ids[i] = node(i);
    return { ids, shape };
  }

  /** Ids of an int64 tensor: a feed of them, or columns of one. */
  ids(tensor: Tensor): IdRows {
    const { op } = tensor;
    if (op.type === 'Columns') {
      const { start, end } = op.attrs as { start: number; end: number };
      return this.ids(op.inputs[0]!).map((row) => row.slice(start, end));
    }
    const value = this.world.feeds.get(op.name);
    if (value === undefined || !('ids' in value)) throw new Error(`${op.name} is no feed of ids`);
    return value.ids;
  }

  /** Nodes of the row of an id as `lookup` reads it; zeros for an absent one. */
  rowOf(lookup: Op, table: string, dim: number, id: bigint): Int32Array {
    const known = this.#rowNodes.get(lookup) ?? new Map<bigint, Int32Array>();
    this.#rowNodes.set(lookup, known);
    let nodes = known.get(id);
    if (nodes === undefined) {
      const weights = this.world.row(table, id);
      nodes = Int32Array.from({ length: dim }, (_, c) => this.tape.leaf(weights?.[c]?.v ?? 0, weights?.[c]?.e ?? 0));
      known.set(id, nodes);
    }
    return nodes;
  }

  /** The rows a lookup has read, by id; their nodes get the sums over all places where the id stood. */
  rowsRead(lookup: Op): ReadonlyMap<bigint, Int32Array> {
    this.#outputs(lookup);
    return this.#rowNodes.get(lookup) ?? new Map();
  }

  /** Gradients of `ys`, each weighted by its seed, ones where there is none. */
  backward(ys: readonly Tensor[], seeds: readonly (Tensor | undefined)[] = []): Adjoints {
    return this.tape.backward(
      ys.flatMap((y, index) => {
        const seed = seeds[index];
        const weights = seed === undefined ? undefined : this.values(seed);
        return Array.from(this.nodes(y).ids, (id, i) => [id, weights?.[i] ?? { v: 1, e: 0 }] as const);
      }),
    );
  }

  /** Outputs of an op. By hand, not by recursion alone: a deep chain is made from its start. */
  #outputs(op: Op): readonly Nodes[] {
    const open = [op];
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const missing = top.inputs.find(({ op: input, spec }) => spec.dtype === 'float32' && !this.#memo.has(input));
      if (missing !== undefined) {
        open.push(missing.op);
        continue;
      }
      if (!this.#memo.has(top)) this.#memo.set(top, this.#compute(top));
      open.pop();
    }
    return this.#memo.get(op)!;
  }

  #compute(op: Op): readonly Nodes[] {
    const rule = this.#rules.get(op.type);
    if (rule === undefined) throw new Error(`no rule for ${op.type} (${op.name})`);
    const inputs = op.inputs.map((input) => {
      return input.spec.dtype === 'float32'
        ? this.#memo.get(input.op)![input.index]!
        : { ids: new Int32Array(), shape: [] };
    });
    return rule(op, inputs, this).map((nodes, index) => {
      const count = this.sizes(op.outputs[index]!).reduce((product, size) => product * size, 1);
      if (nodes.ids.length !== count)
        throw new Error(`${op.name} (${op.type}): ${nodes.ids.length} numbers, not ${count}`);
      if (!this.#targets.has(op.outputs[index]!)) return nodes;
      return { ...nodes, ids: nodes.ids.map((id) => this.tape.copy(id)) };
    });
  }
}
