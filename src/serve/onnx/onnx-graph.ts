/** @file The operations of a prediction as nodes of ONNX. */
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
import { ONNX_DTYPE } from './messages.js';
import type { OnnxNodes } from './onnx-nodes.js';
import { OnnxTables } from './onnx-tables.js';

const FLOAT = { to: ONNX_DTYPE.FLOAT };

const BINARY: Readonly<Record<BinaryKind, string>> = {
  add: 'Add',
  sub: 'Sub',
  mul: 'Mul',
  div: 'Div',
  maximum: 'Max',
  minimum: 'Min',
  greaterEqual: 'GreaterOrEqual',
  equal: 'Equal',
};

export class OnnxGraph implements StandardGraph {
  readonly #nodes: OnnxNodes;
  readonly #tables: OnnxTables;

  constructor(nodes: OnnxNodes) {
    this.#nodes = nodes;
    this.#tables = new OnnxTables(nodes);
  }

  constant(name: string, values: Float32Array, sizes: readonly number[]): Value {
    const made = sizes.length === 0 ? this.#nodes.float(values[0]!) : this.#nodes.floats(name, values, sizes);
    return { name: made, perExample: false, sizes };
  }

  floats({ name, kind, width }: Feed): Value {
    const floats = kind === 'dense' ? name : this.#nodes.add(`${name}/floats`, 'Cast', [name], FLOAT);
    return { name: floats, perExample: true, sizes: [width] };
  }

  lookup(feed: Feed, table: TableRows, pooling: Pooling, columns?: readonly [number, number]): Value {
    return this.#tables.lookup(feed, table, pooling, columns);
  }

  sequenceMask(feed: Feed, n: number): Value {
    return this.#tables.sequenceMask(feed, n);
  }

  unary(kind: UnaryKind, x: Value): Value {
    return { ...x, name: this.#nodes.add(kind, UNARY_NODE[kind], [x.name]) };
  }

  binary(kind: BinaryKind, a: Value, b: Value): Value {
    const name = this.#nodes.add(kind, BINARY[kind], [a.name, b.name]);
    const isComparison = kind === 'equal' || kind === 'greaterEqual';
    const floats = isComparison ? this.#nodes.add(`${kind}/floats`, 'Cast', [name], FLOAT) : name;
    return { name: floats, perExample: a.perExample || b.perExample, sizes: broadcast(a.sizes, b.sizes) };
  }

  matMul(a: Value, b: Value): Value {
    const sizes = [...a.sizes.slice(0, -1), b.sizes.at(-1)!];
    const name = this.#nodes.add('matmul', 'MatMul', [a.name, b.name]);
    return { name, perExample: a.perExample || b.perExample, sizes };
  }

  reshape(x: Value, sizes: readonly number[]): Value {
    const shape = this.#nodes.ints(x.perExample ? [-1, ...sizes] : sizes);
    return { ...x, name: this.#nodes.add('reshape', 'Reshape', [x.name, shape]), sizes };
  }

  transpose(x: Value, order: readonly number[]): Value {
    const perm = x.perExample ? [0, ...order.map((axis) => axis + 1)] : order;
    const name = this.#nodes.add('transpose', 'Transpose', [x.name], { perm });
    return { ...x, name, sizes: order.map((axis) => x.sizes[axis]!) };
  }

  concat(list: readonly Value[], axis: number): Value {
    const [first] = list as [Value];
    const inputs = list.map(({ name }) => name);
    const sizes = [...first.sizes];
    sizes[axis] = list.reduce((sum, value) => sum + value.sizes[axis]!, 0);
    return { ...first, name: this.#nodes.add('concat', 'Concat', inputs, { axis: axisOf(first, axis) }), sizes };
  }

  part(x: Value, axis: number, start: number, end: number): Value {
    const inputs = [x.name, ...[start, end, axisOf(x, axis)].map((value) => this.#nodes.ints([value]))];
    const sizes = x.sizes.map((old, index) => (index === axis ? end - start : old));
    return { ...x, name: this.#nodes.add('part', 'Slice', inputs), sizes };
  }

  gather(x: Value, axis: number, indices: readonly number[]): Value {
    const inputs = [x.name, this.#nodes.ints(indices)];
    const sizes = x.sizes.map((old, index) => (index === axis ? indices.length : old));
    return { ...x, name: this.#nodes.add('gather', 'Gather', inputs, { axis: axisOf(x, axis) }), sizes };
  }

  reduce(kind: ReduceKind, x: Value, axis: number): Value {
    const at = axisOf(x, axis);
    // Axes became an input of sums in version 13 of the ops, of maxima in 18.
    const name =
      kind === 'sum'
        ? this.#nodes.add(kind, 'ReduceSum', [x.name, this.#nodes.ints([at])], { keepdims: 0 })
        : this.#nodes.add(kind, 'ReduceMax', [x.name], { axes: [at], keepdims: 0 });
    return { ...x, name, sizes: x.sizes.filter((_, index) => index !== axis) };
  }

  softmax(x: Value): Value {
    return { ...x, name: this.#nodes.add('softmax', 'Softmax', [x.name], { axis: -1 }) };
  }

  topK(x: Value, k: number): readonly [Value, Value] {
    const [values, indices] = this.#nodes.addMany('top', 'TopK', [x.name, this.#nodes.ints([k])], 2, { axis: -1 });
    const places = this.#nodes.add('top/places', 'Cast', [indices!], FLOAT);
    const sizes = [...x.sizes.slice(0, -1), k];
    return [
      { ...x, name: values!, sizes },
      { ...x, name: places, sizes },
    ];
  }
}

const axisOf = ({ perExample }: Value, axis: number): number => axis + (perExample ? 1 : 0);
