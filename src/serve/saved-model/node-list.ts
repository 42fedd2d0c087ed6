/** @file Nodes of a TensorFlow graph as they are added: unique names, attributes by their kind, constants. */
import { type AttrValue, DTYPE, type NodeDef, type TensorShape } from './messages.js';

export type Dtype = keyof typeof DTYPE;

export const typeAttr = (dtype: Dtype): AttrValue => ({ type: DTYPE[dtype] });
export const boolAttr = (b: boolean): AttrValue => ({ b });
export const intAttr = (i: number): AttrValue => ({ i: BigInt(i) });
export const textAttr = (text: string): AttrValue => ({ s: new TextEncoder().encode(text) });
export const typesAttr = (list: readonly Dtype[]): AttrValue => ({ list: { type: list.map((one) => DTYPE[one]) } });

/** -1 is a size that is not known. */
export const shapeOf = (sizes: readonly number[]): TensorShape => ({
  dim: sizes.map((size) => ({ size: BigInt(size) })),
});

export class NodeList {
  readonly nodes: NodeDef[] = [];
  readonly #names = new Set<string>();
  readonly #kept = new Map<string, string>();

  /** The name of the node that was added; that of output 0. */
  add(name: string, op: string, inputs: readonly string[], attrs: Readonly<Record<string, AttrValue>> = {}): string {
    const unique = this.#freeName(name);
    this.nodes.push({ name: unique, op, input: [...inputs], attr: new Map(Object.entries(attrs)) });
    return unique;
  }

  floats(name: string, values: Float32Array, sizes: readonly number[]): string {
    return this.#constant(name, 'FLOAT', bytesOf(values), sizes);
  }

  int64s(name: string, values: BigInt64Array): string {
    return this.#constant(name, 'INT64', bytesOf(values), [values.length]);
  }

  int64(name: string, value: bigint): string {
    return this.#constant(name, 'INT64', bytesOf(BigInt64Array.of(value)), []);
  }

  /** Small whole numbers, which are shared by all who need the same. */
  ints(values: readonly number[]): string {
    return this.#once(`ints/${values.join('_')}`, (name) =>
      this.#constant(name, 'INT32', bytesOf(Int32Array.from(values)), [values.length]),
    );
  }

  int(value: number): string {
    return this.#once(`int/${value}`, (name) => this.#constant(name, 'INT32', bytesOf(Int32Array.of(value)), []));
  }

  texts(name: string, values: readonly string[]): string {
    const stringVal = values.map((value) => new TextEncoder().encode(value));
    const tensor = { dtype: DTYPE.STRING, tensorShape: shapeOf([values.length]), stringVal };
    return this.add(name, 'Const', [], { dtype: typeAttr('STRING'), value: { tensor } });
  }

  #once(name: string, make: (name: string) => string): string {
    const known = this.#kept.get(name);
    if (known !== undefined) return known;
    const made = make(name.replaceAll('-', 'm'));
    this.#kept.set(name, made);
    return made;
  }

  #constant(name: string, dtype: Dtype, tensorContent: Uint8Array, sizes: readonly number[]): string {
    const tensor = { dtype: DTYPE[dtype], tensorShape: shapeOf(sizes), tensorContent };
    return this.add(name, 'Const', [], { dtype: typeAttr(dtype), value: { tensor } });
  }

  /** Names of nodes have letters, digits and `_./\-` alone. */
  #freeName(wanted: string): string {
    const clean = wanted.replaceAll(/[^A-Za-z0-9_./\\-]/g, '_').replace(/^[^A-Za-z0-9.]/, 'x$&');
    let name = clean;
    for (let n = 1; this.#names.has(name); n++) name = `${clean}_${n}`;
    this.#names.add(name);
    return name;
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
