/**
 * @file Hyper-parameters: a tree of named values with defaults and descriptions (core/hyperparams).
 *
 * A name must be defined before it can be set, so a mistyped one is an error that names the likely one. Values are read
 * and written as properties, by `get` and `set` with dotted paths, or both; that is why an instance is a proxy, and why
 * its state is kept beside it and not in private fields, which a proxy does not have.
 */
import { MonolithError } from '../errors.js';
import { copyValue, paramsText, sameValue, similarNames, typeName } from './param-values.js';

/** Carries the type of the values; there is no such property. */
declare const VALUES: unique symbol;

/** Params with its parameters as typed properties: `params.train.steps`. */
export type ParamsOf<S extends object> = Params<S> & S;

/** Type of the value at a dotted path; unknown where the types do not tell. */
export type ValueAt<S, Path extends string> = Path extends `${infer Head}.${infer Rest}`
  ? Head extends keyof S
    ? S[Head] extends { readonly [VALUES]?: infer Inner }
      ? ValueAt<Inner, Rest>
      : unknown
    : unknown
  : Path extends keyof S
    ? S[Path]
    : unknown;

interface Param {
  value: unknown;
  readonly help: string;
}

interface State {
  params: Map<string, Param>;
  immutable: boolean;
}

const NAME = /^[a-z][a-z0-9_]*$/;
const states = new WeakMap<object, State>();

const stateOf = (params: object): State => states.get(params)!;

/**
 * The same params with nothing known of their names: for code that walks trees of any. The type of names is in no
 * value.
 */
export const untyped = (params: object): Params => params as Params;

/**
 * Hyper-parameters: a tree of named values with descriptions.
 *
 * ```ts
 * const train = new Params().define('steps', 100, 'Steps to train.').define('label_key', 'label', 'The label.');
 * const params = new Params().define('train', train, 'Training.');
 * params.train.steps = 200;
 * params.set({ 'train.label_key': 'click' });
 * params.get('train.steps'); // 200
 * ```
 */
// biome-ignore lint/complexity/noBannedTypes: no parameters is the type of no properties
export class Params<S extends object = {}> {
  declare readonly [VALUES]?: S;

  constructor() {
    const proxy = new Proxy(this, HANDLER as ProxyHandler<object>) as this;
    const state: State = { params: new Map(), immutable: false };
    states.set(this, state);
    states.set(proxy, state);
    // biome-ignore lint/correctness/noConstructorReturn: properties are looked up by name, see above
    return proxy;
  }

  /**
   * Adds a parameter: lower case letters, digits and underscores, a letter first. Params goes on with it in its type.
   */
  define<K extends string, V>(name: K, defaultValue: V, help: string): ParamsOf<S & { [key in K]: V }> {
    const { params } = writable(this);
    if (typeof name !== 'string' || !NAME.test(name)) throw new MonolithError('ML_PARAM_NAME', { name });
    if (params.has(name)) throw new MonolithError('ML_PARAM_DEFINED', { name });
    params.set(name, { value: defaultValue, help });
    // The names are in the type alone: a proxy answers for whatever is defined.
    return this as unknown as ParamsOf<S & { [key in K]: V }>;
  }

  /** The value at a path. Dots go into nested params, `[i]` into a list of params. */
  get<Path extends string>(path: Path): ValueAt<S, Path> {
    return find(this, path).param.value as ValueAt<S, Path>;
  }

  /** Sets parameters by their paths; none when one of them is unknown. */
  set(values: { readonly [path: string]: unknown } & Partial<S>): this {
    writable(this);
    const found = Object.entries(values).map(([path, value]) => ({ ...find(this, path), value }));
    for (const { owner } of found) writable(owner);
    for (const { param, value } of found) param.value = value;
    return this;
  }

  delete(...paths: readonly string[]): this {
    writable(this);
    for (const path of paths) {
      const { owner, name } = find(this, path);
      writable(owner).params.delete(name);
    }
    return this;
  }

  contain(name: string): boolean {
    return stateOf(this).params.has(name);
  }

  /** What the parameter at a path is for. */
  help(path: string): string {
    return find(this, path).param.help;
  }

  /** Names and values in the order they were defined. */
  *iterParams(): Generator<[name: string, value: unknown]> {
    for (const [name, { value }] of stateOf(this).params) yield [name, value];
  }

  /**
   * A copy down to lists, dictionaries and nested params; other objects, such as tensors, are shared. Frozen stays
   * frozen.
   */
  copy(): this {
    return this.copyTo(new Params() as this);
  }

  protected copyTo(target: this): this {
    const { params, immutable } = stateOf(this);
    const state = stateOf(target);
    state.params = new Map([...params].map(([name, { value, help }]) => [name, { value: copyValue(value), help }]));
    state.immutable = immutable;
    return target;
  }

  /** Refuses changes from now on; nested params are frozen by themselves. */
  freeze(): this {
    stateOf(this).immutable = true;
    return this;
  }

  isImmutable(): boolean {
    return stateOf(this).immutable;
  }

  /**
   * Whether the other is Params with the same names and values. Objects that are no plain data are compared by
   * identity.
   */
  equals(other: unknown): boolean {
    if (!(other instanceof Params)) return false;
    const [own, others] = [stateOf(this).params, stateOf(other).params];
    return (
      own.size === others.size &&
      [...own].every(([name, { value }]) => others.has(name) && sameValue(value, others.get(name)!.value))
    );
  }

  /** Names and values in braces, sorted by name. */
  toString(): string {
    return paramsText(this.iterParams());
  }

  toJSON(): Record<string, unknown> {
    return Object.fromEntries(this.iterParams());
  }
}

// Functions and not private methods: those are not on a proxy either.

function writable(params: object): State {
  const state = stateOf(params);
  if (state.immutable) throw new MonolithError('ML_PARAM_IMMUTABLE');
  return state;
}

function find(params: object, path: string): { owner: object; name: string; param: Param } {
  const parts = path.split('.');
  const name = parts.pop()!;
  let owner = params;
  parts.forEach((part, i) => {
    const upTo = parts.slice(0, i + 1).join('.');
    const [, list, index] = /^(.+)\[(\d+)\]$/.exec(part) ?? [];
    const param = stateOf(owner).params.get(list ?? part);
    if (param === undefined) throw unknown(owner, list ?? part, upTo);
    const inner = index === undefined ? param.value : (param.value as readonly unknown[] | null)?.[Number(index)];
    if (!(inner instanceof Params)) throw new MonolithError('ML_PARAM_PATH', { type: typeName(inner), path: upTo });
    owner = inner;
  });
  const param = stateOf(owner).params.get(name);
  if (param === undefined) throw unknown(owner, name, path);
  return { owner, name, param };
}

/** The error for a name that is not there, with the names of `owner` that are like it. */
function unknown(owner: object, name: string, path = name): MonolithError {
  const similar = similarNames(name, [...stateOf(owner).params.keys()]);
  const meant = similar.length === 0 ? '' : ` (did you mean: [${similar.join(',')}])`;
  return new MonolithError('ML_PARAM_UNKNOWN', { name: path, meant });
}

/** Read by `await` and by printers of any object; to them Params is an object without it. */
const ASKED_OF_ANY_OBJECT = new Set(['then', 'asymmetricMatch', 'nodeType', 'inspect']);

/** Methods come first, then parameters; anything else is a mistyped name. */
const HANDLER: ProxyHandler<Params> = {
  get(target, name, receiver) {
    if (typeof name === 'symbol' || Reflect.has(target, name)) return Reflect.get(target, name, receiver);
    const param = stateOf(target).params.get(name);
    if (param !== undefined) return param.value;
    if (ASKED_OF_ANY_OBJECT.has(name)) return undefined;
    throw unknown(target, name);
  },
  set(target, name, value) {
    const { params, immutable } = stateOf(target);
    if (immutable) throw new MonolithError('ML_PARAM_IMMUTABLE');
    const param = params.get(String(name));
    if (param === undefined) throw unknown(target, String(name));
    param.value = value;
    return true;
  },
  has: (target, name) => (typeof name === 'symbol' ? Reflect.has(target, name) : stateOf(target).params.has(name)),
  deleteProperty(target, name) {
    target.delete(String(name));
    return true;
  },
  ownKeys: (target) => [...stateOf(target).params.keys()],
  getOwnPropertyDescriptor(target, name) {
    const param = stateOf(target).params.get(String(name));
    return param && { value: param.value, writable: true, enumerable: true, configurable: true };
  },
};
