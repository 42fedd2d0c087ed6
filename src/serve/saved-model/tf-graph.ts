/** @file The operations of a prediction as nodes of TensorFlow, of its standard ops alone. */
import {
  type BinaryKind,
  broadcast,
  type Feed,
  type Pooling,
  type ReduceKind,
  type StandardGraph,
  type TableRows,
  UNARY_NODE,
  type UnaryKind,
  type Value,
} from '../standard/standard-graph.js';
import { boolAttr, type NodeList, typeAttr } from './node-list.js';
import type { TfFeeds } from './tf-feeds.js';
import { TfTables } from './tf-tables.js';

const FLOAT = { T: typeAttr('FLOAT') };

const BINARY: Readonly<Record<BinaryKind, string>> = {
  add: 'AddV2',
  sub: 'Sub',
  mul: 'Mul',
  div: 'RealDiv',
  maximum: 'Maximum',
  minimum: 'Minimum',
  greaterEqual: 'GreaterEqual',
  equal: 'Equal',
};

export class TfGraph implements StandardGraph {
  readonly #nodes: NodeList;
  readonly #feeds: TfFeeds;
  readonly #tables: TfTables;

  constructor(nodes: NodeList, feeds: TfFeeds) {
    this.#nodes = nodes;
    this.#feeds = feeds;
    this.#tables = new TfTables(nodes, feeds);
  }

  /** Nodes that fill the tables, for the one that begins. */
  get initializers(): readonly string[] {
    return this.#tables.initializers;
  }

  constant(name: string, values: Float32Array, sizes: readonly number[]): Value {
    return { name: this.#nodes.floats(name, values, sizes), perExample: false, sizes };
  }

  floats(feed: Feed): Value {
    const { node, dtype } = this.#feeds.dense(feed);
    const name =
      dtype === 'FLOAT'
        ? node
        : this.#nodes.add(`${feed.name}/floats`, 'Cast', [node], { SrcT: typeAttr(dtype), DstT: typeAttr('FLOAT') });
    return { name, perExample: true, sizes: [feed.width] };
  }

  lookup(feed: Feed, table: TableRows, pooling: Pooling, columns?: readonly [number, number]): Value {
    return this.#tables.lookup(feed, table, pooling, columns);
  }

  sequenceMask(feed: Feed, n: number): Value {
    return this.#tables.sequenceMask(feed, n);
  }

  unary(kind: UnaryKind, x: Value): Value {
    return { ...x, name: this.#nodes.add(kind, UNARY_NODE[kind], [x.name], FLOAT) };
  }

  binary(kind: BinaryKind, a: Value, b: Value): Value {
    const name = this.#nodes.add(kind, BINARY[kind], [a.name, b.name], FLOAT);
    const isComparison = kind === 'equal' || kind === 'greaterEqual';
    const attrs = { SrcT: { type: 10 }, DstT: typeAttr('FLOAT') };
    const floats = isComparison ? this.#nodes.add(`${kind}/floats`, 'Cast', [name], attrs) : name;
    return { name: floats, perExample: a.perExample || b.perExample, sizes: broadcast(a.sizes, b.sizes) };
  }

  matMul(a: Value, b: Value): Value {
    const sizes = [...a.sizes.slice(0, -1), b.sizes.at(-1)!];
    const name = this.#nodes.add('matmul', 'BatchMatMulV2', [a.name, b.name], {
      ...FLOAT,
      adj_x: boolAttr(false),
      adj_y: boolAttr(false),
    });
    if (a.perExample && a.sizes.length === 1) {
      const plain = { ...FLOAT, transpose_a: boolAttr(false), transpose_b: boolAttr(false) };
      this.#nodes.nodes.at(-1)!.op = 'MatMul';
      this.#nodes.nodes.at(-1)!.attr = new Map(Object.entries(plain));
    }
    return { name, perExample: a.perExample || b.perExample, sizes };
  }

  reshape(x: Value, sizes: readonly number[]): Value {
    const shape = this.#nodes.ints(x.perExample ? [-1, ...sizes] : sizes);
    const attrs = { ...FLOAT, Tshape: typeAttr('INT32') };
    return { ...x, name: this.#nodes.add('reshape', 'Reshape', [x.name, shape], attrs), sizes };
  }

  transpose(x: Value, order: readonly number[]): Value {
    const all = x.perExample ? [0, ...order.map((axis) => axis + 1)] : order;
    const attrs = { ...FLOAT, Tperm: typeAttr('INT32') };
    const name = this.#nodes.add('transpose', 'Transpose', [x.name, this.#nodes.ints(all)], attrs);
    return { ...x, name, sizes: order.map((axis) => x.sizes[axis]!) };
  }

  concat(list: readonly Value[], axis: number): Value {
    const [first] = list as [Value];
    const inputs = [...list.map(({ name }) => name), this.#nodes.int(axisOf(first, axis))];
    const attrs = { ...FLOAT, N: { i: BigInt(list.length) }, Tidx: typeAttr('INT32') };
    const sizes = [...first.sizes];
    sizes[axis] = list.reduce((sum, value) => sum + value.sizes[axis]!, 0);
    return { ...first, name: this.#nodes.add('concat', 'ConcatV2', inputs, attrs), sizes };
  }

  part(x: Value, axis: number, start: number, end: number): Value {
    const at = axisOf(x, axis);
    const rank = x.sizes.length + (x.perExample ? 1 : 0);
    const begin = Array.from({ length: rank }, (_, index) => (index === at ? start : 0));
    const size = Array.from({ length: rank }, (_, index) => (index === at ? end - start : -1));
    const inputs = [x.name, this.#nodes.ints(begin), this.#nodes.ints(size)];
    const name = this.#nodes.add('part', 'Slice', inputs, { ...FLOAT, Index: typeAttr('INT32') });
    return { ...x, name, sizes: x.sizes.map((old, index) => (index === axis ? end - start : old)) };
  }

  gather(x: Value, axis: number, indices: readonly number[]): Value {
    const inputs = [x.name, this.#nodes.ints(indices), this.#nodes.int(axisOf(x, axis))];
    const attrs = { Tparams: typeAttr('FLOAT'), Tindices: typeAttr('INT32'), Taxis: typeAttr('INT32') };
    const sizes = x.sizes.map((old, index) => (index === axis ? indices.length : old));
    return { ...x, name: this.#nodes.add('gather', 'GatherV2', inputs, attrs), sizes };
  }

  reduce(kind: ReduceKind, x: Value, axis: number): Value {
    const inputs = [x.name, this.#nodes.ints([axisOf(x, axis)])];
    const attrs = { ...FLOAT, Tidx: typeAttr('INT32'), keep_dims: boolAttr(false) };
    const name = this.#nodes.add(kind, kind === 'sum' ? 'Sum' : 'Max', inputs, attrs);
    return { ...x, name, sizes: x.sizes.filter((_, index) => index !== axis) };
  }

  softmax(x: Value): Value {
    return { ...x, name: this.#nodes.add('softmax', 'Softmax', [x.name], FLOAT) };
  }

  topK(x: Value, k: number): readonly [Value, Value] {
    const node = this.#nodes.add('top', 'TopKV2', [x.name, this.#nodes.int(k)], { ...FLOAT, sorted: boolAttr(true) });
    const cast = { SrcT: typeAttr('INT32'), DstT: typeAttr('FLOAT') };
    const places = this.#nodes.add('top/places', 'Cast', [`${node}:1`], cast);
    const sizes = [...x.sizes.slice(0, -1), k];
    return [
      { ...x, name: node, sizes },
      { ...x, name: places, sizes },
    ];
  }
}

const axisOf = ({ perExample }: Value, axis: number): number => axis + (perExample ? 1 : 0);
