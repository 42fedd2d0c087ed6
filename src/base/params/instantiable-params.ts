/** @file Params of a class, which make an instance of it (core/hyperparams, utils.params). */
import { MonolithError } from '../errors.js';
import { Params, type ParamsOf, untyped } from './params.js';

// biome-ignore lint/suspicious/noExplicitAny: a constructor of any arguments
export type AnyClass<T = unknown> = abstract new (...args: any) => T;
type ConcreteClass<T> = new (argument: unknown) => T;

/** A class that names the arguments of its constructor, which takes them as one object. */
export interface WithParameters {
  /** Name → default; `undefined` for one that has none. Those of base classes are found there. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** Arguments that any layer takes when they are given, whether its class names them or not. */
export const allowedKwargs: readonly string[] = [
  'input_dim',
  'input_shape',
  'batch_input_shape',
  'weights',
  'activity_regularizer',
  'autocast',
  'implementation',
  'name',
];

/** Params with the class they are for under `cls`. */
// biome-ignore lint/complexity/noBannedTypes: no parameters is the type of no properties
export class InstantiableParams<T = unknown, S extends object = {}> extends Params<S> {
  constructor(cls: AnyClass<T> | null = null) {
    super();
    this.define('cls', cls, 'Cls that this param object is associated with.');
  }

  /**
   * An instance of `cls`: `new cls(params)`, or `new cls({ name: value, … })` when the class or one it extends has
   * static `parameters`. Then every parameter found in this tree goes by its own name, and of `allowedKwargs` those
   * with a value.
   */
  instantiate(): T {
    const cls = this.get('cls') as ConcreteClass<T> | null;
    if (cls === null || cls === undefined) throw new MonolithError('ML_PARAM_CLASS');
    const declared = declaredParameters(cls as AnyClass);
    if (declared === undefined) return new cls(this);
    const owners = invertedIndex(untyped(this));
    const args: Record<string, unknown> = {};
    for (const name of declared.keys()) if (owners.has(name)) args[name] = owners.get(name)!.get(name);
    for (const name of allowedKwargs) {
      const value = owners.get(name)?.get(name);
      if (value !== null && value !== undefined) args[name] = value;
    }
    return new cls(args);
  }

  override copy(): this {
    // What was defined beside `cls` comes with copyTo, and with it the type.
    return this.copyTo(new InstantiableParams<T>(this.get('cls') as AnyClass<T> | null) as unknown as this);
  }
}

/** Names and defaults a class and those it extends declare, bases first; undefined when none declares any. */
export function declaredParameters(cls: AnyClass): Map<string, unknown> | undefined {
  const chain: Readonly<Record<string, unknown>>[] = [];
  for (let base: unknown = cls; typeof base === 'function'; base = Object.getPrototypeOf(base)) {
    const own = Object.hasOwn(base, 'parameters') ? (base as WithParameters).parameters : undefined;
    if (own !== undefined) chain.unshift(own);
  }
  if (chain.length === 0) return undefined;
  return new Map(chain.flatMap((declared) => Object.entries(declared)));
}

/** Name → the params it is in, over the whole tree; of equal names the last one found. */
export function invertedIndex(params: Params, index = new Map<string, Params>()): Map<string, Params> {
  for (const [name, value] of params.iterParams()) {
    if (value instanceof Params) invertedIndex(value as Params, index);
    else index.set(name, params);
  }
  return index;
}

/** Sets parameters of `to` to those of `from`, nested ones to copies. */
export function copyParamsTo<S extends object>(from: Params, to: Params<S>, skip: readonly string[] = []): ParamsOf<S> {
  for (const [name, value] of from.iterParams()) {
    if (skip.includes(name)) continue;
    untyped(to).set({ [name]: value instanceof Params ? value.copy() : value });
  }
  return to as ParamsOf<S>;
}

/** Moves values of `args` to the parameters of these names, wherever in the tree they are; what is left had none. */
export function updateParams(params: Params, args: Record<string, unknown>): void {
  for (const [name, value] of [...params.iterParams()]) {
    if (value instanceof Params) updateParams(value as Params, args);
    else if (Object.hasOwn(args, name)) {
      params.set({ [name]: args[name] });
      delete args[name];
    }
  }
}
