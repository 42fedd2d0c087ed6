/**
 * @file Attributes of an op as a file has them, taken out one by one and checked: kernels trust them, and a file that
 * somebody else wrote must not reach outside its tensors.
 */
import { elementCount, misfit, type Tensor } from '../graph/graph.js';

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** No tensor of a model has more floats for one example. */
export const ROW_FLOATS_MAX = 2 ** 22;

export class Attributes {
  readonly #type: string;
  readonly #values: JsonObject;

  constructor(type: string, values: JsonObject) {
    this.#type = type;
    this.#values = values;
  }

  /** ML_GRAPH that names the op and the attribute. */
  refuse(name: string, reason = 'is not what the op takes'): never {
    throw misfit(this.#type, `its attribute ${name} ${reason}`);
  }

  /** Refuses the attribute unless what it must be is so. */
  hold(name: string, isSo: boolean): void {
    if (!isSo) this.refuse(name, 'does not fit its inputs');
  }

  get(name: string): JsonValue | undefined {
    return Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
  }

  number(name: string): number {
    const value = this.get(name);
    return typeof value === 'number' && Number.isFinite(value) ? value : this.refuse(name);
  }

  whole(name: string, least = 0, most = ROW_FLOATS_MAX): number {
    const value = this.number(name);
    return Number.isInteger(value) && value >= least && value <= most ? value : this.refuse(name);
  }

  boolean(name: string): boolean {
    const value = this.get(name);
    return typeof value === 'boolean' ? value : this.refuse(name);
  }

  choice<const Choice extends string>(name: string, choices: readonly Choice[]): Choice {
    const value = this.get(name);
    return choices.find((choice) => choice === value) ?? this.refuse(name);
  }

  wholes(name: string): number[] {
    const value = this.get(name);
    if (!Array.isArray(value) || value.length > ROW_FLOATS_MAX) return this.refuse(name);
    for (const item of value) if (!Number.isInteger(item) || item < 0 || item > ROW_FLOATS_MAX) this.refuse(name);
    return value as number[];
  }

  /** Sizes after the batch, with so many elements in all. */
  sizes(name: string, count: number): number[] {
    const sizes = this.wholes(name);
    if (sizes.length > 16 || elementCount(sizes) !== count) this.refuse(name, `does not have ${count} elements`);
    return sizes;
  }

  object(name: string): Attributes {
    const value = this.get(name);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.refuse(name);
    return new Attributes(this.#type, value as JsonObject);
  }

  list(name: string): Attributes[] {
    const value = this.get(name);
    if (!Array.isArray(value) || value.length > ROW_FLOATS_MAX) return this.refuse(name);
    return value.map((item) =>
      typeof item === 'object' && item !== null && !Array.isArray(item)
        ? new Attributes(this.#type, item as JsonObject)
        : this.refuse(name),
    );
  }
}

/** Sizes of a tensor after the batch. */
export const innerSizes = ({ spec }: Tensor): number[] => spec.shape.slice(1) as number[];
