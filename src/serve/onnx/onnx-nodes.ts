/** @file Nodes of an ONNX graph as they are added: unique names, attributes, constants that are shared. */
import { ATTRIBUTE_TYPE, type AttributeProto, type NodeProto, ONNX_DTYPE, type TensorProto } from './messages.js';

/** Whole numbers of an attribute: one, or a list. */
export type Attributes = Readonly<Record<string, number | readonly number[] | BigInt64Array>>;

export class OnnxNodes {
  readonly nodes: NodeProto[] = [];
  readonly initializers: TensorProto[] = [];
  readonly #names = new Set<string>();
  readonly #kept = new Map<string, string>();

  /** Takes a name for an input or an output, which nothing else may have. */
  reserve(name: string): string {
    this.#names.add(name);
    return name;
  }

  /** The output of a node that was added. */
  add(name: string, opType: string, inputs: readonly string[], attributes: Attributes = {}, domain?: string): string {
    return this.addMany(name, opType, inputs, 1, attributes, domain)[0]!;
  }

  /** All outputs of a node that has several. */
  addMany(
    name: string,
    opType: string,
    inputs: readonly string[],
    outputs: number,
    attributes: Attributes = {},
    domain?: string,
  ): string[] {
    const output = Array.from({ length: outputs }, () => this.#freeName(name));
    const attribute = Object.entries(attributes).map(([key, value]) => attributeOf(key, value));
    this.nodes.push({ input: [...inputs], output, name: output[0]!, opType, attribute, ...(domain && { domain }) });
    return output;
  }

  /** A node whose output has a name that was reserved. */
  addNamed(output: string, opType: string, inputs: readonly string[]): void {
    this.nodes.push({ input: [...inputs], output: [output], name: `${output}/node`, opType, attribute: [] });
  }

  floats(name: string, values: Float32Array, sizes: readonly number[]): string {
    return this.#constant(name, 'FLOAT', values, sizes);
  }

  /** A number, which is shared by all who need the same. */
  float(value: number): string {
    return this.#once(`float/${value}`, (name) => this.floats(name, Float32Array.of(value), []));
  }

  /** Whole numbers, which are shared by all who need the same. */
  ints(values: readonly number[]): string {
    const bits = BigInt64Array.from(values, BigInt);
    return this.#once(`ints/${values.join('_')}`, (name) => this.#constant(name, 'INT64', bits, [values.length]));
  }

  int(value: number): string {
    return this.#once(`int/${value}`, (name) => this.#constant(name, 'INT64', BigInt64Array.of(BigInt(value)), []));
  }

  #once(name: string, make: (name: string) => string): string {
    const known = this.#kept.get(name);
    if (known !== undefined) return known;
    const made = make(name);
    this.#kept.set(name, made);
    return made;
  }

  #constant(
    wanted: string,
    dtype: 'FLOAT' | 'INT64',
    { buffer, byteOffset, byteLength }: Float32Array | BigInt64Array,
    sizes: readonly number[],
  ): string {
    const name = this.#freeName(wanted);
    const rawData = new Uint8Array(buffer, byteOffset, byteLength);
    this.initializers.push({ dims: BigInt64Array.from(sizes, BigInt), dataType: ONNX_DTYPE[dtype], name, rawData });
    return name;
  }

  #freeName(wanted: string): string {
    let name = wanted;
    for (let n = 1; this.#names.has(name); n++) name = `${wanted}_${n}`;
    this.#names.add(name);
    return name;
  }
}

function attributeOf(name: string, value: Attributes[string]): AttributeProto {
  if (typeof value === 'number') return { name, i: BigInt(value), type: ATTRIBUTE_TYPE.int };
  const ints = value instanceof BigInt64Array ? value : BigInt64Array.from(value, BigInt);
  return { name, ints, type: ATTRIBUTE_TYPE.ints };
}
