/**
 * @file Params of a class from what its constructor takes (utils.params, utils.with_params).
 *
 * Upstream reads the signature of `__init__`. A constructor of JavaScript cannot be read, so a class says what it takes
 * in a static `parameters`, and gets it as one object.
 */
import {
  type AnyClass,
  allowedKwargs,
  declaredParameters,
  InstantiableParams,
  invertedIndex,
} from './instantiable-params.js';
import { untyped } from './params.js';

type ParamsFunction<T> = (this: unknown) => InstantiableParams<T>;
const uses = new Map<string, number>();

/** `name`, and from the second time on `name_1`, `name_2`, … */
export function getUname(name: string): string {
  const count = uses.get(name) ?? 0;
  uses.set(name, count + 1);
  return count === 0 ? name : `${name}_${count}`;
}

/**
 * Params for `cls`: those of the nearest class it extends that has `params()`, then `name`, then what its static
 * `parameters` say, those of base classes first, then `allowedKwargs` as null. A parameter that exists somewhere in the
 * tree gets the new default, if there is one, where it is.
 *
 * ```ts
 * class Dense {
 *   static readonly parameters = { units: undefined, use_bias: true };
 *   constructor(readonly options: { units: number; use_bias: boolean }) {}
 * }
 * const p = params(Dense);
 * p.set({ units: 8 });
 * p.instantiate(); // new Dense({ units: 8, use_bias: true, name: 'Dense' })
 * ```
 */
export function params<T>(cls: AnyClass<T>): InstantiableParams<T> {
  const ips = inheritedParams(cls) ?? new InstantiableParams<T>(cls);
  const owners = invertedIndex(untyped(ips));
  if (!ips.contain('name')) ips.define('name', getUname(cls.name), 'name');
  for (const [name, value] of declaredParameters(cls) ?? []) {
    const owner = owners.get(name) ?? (ips.contain(name) ? untyped(ips) : undefined);
    if (owner === undefined) ips.define(name, value ?? null, name);
    else if (value !== undefined) owner.set({ [name]: value });
  }
  for (const name of allowedKwargs) if (!ips.contain(name)) ips.define(name, null, name);
  return ips;
}

function inheritedParams<T>(cls: AnyClass<T>): InstantiableParams<T> | undefined {
  for (let base: unknown = Object.getPrototypeOf(cls); typeof base === 'function'; base = Object.getPrototypeOf(base)) {
    if (!Object.hasOwn(base, 'params')) continue;
    const made = (base as { params?: ParamsFunction<T> }).params?.();
    made?.set({ cls });
    return made;
  }
  return undefined;
}

/** Gives `cls` a static `params()`: `const Dense = withParams(class Dense { … })`. */
export function withParams<C extends AnyClass>(cls: C): C & { params(): InstantiableParams<InstanceType<C>> } {
  // Asked of a class that extends this one, it is about that class.
  const value = function (this: AnyClass) {
    return params(this);
  };
  return Object.defineProperty(cls, 'params', { value, writable: true, configurable: true }) as C & {
    params(): InstantiableParams<InstanceType<C>>;
  };
}
