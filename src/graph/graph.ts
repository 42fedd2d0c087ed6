/**
 * @file The static graph: named ops with typed outputs, control edges and collections.
 *
 * A graph is built once by a model function, differentiated, and compiled; nothing here computes. What an op means is
 * said by its `OpDef` (shapes, gradient) and, in `runtime`, by its lowering to kernel calls.
 */
import { CallPlace } from '../base/call-place.js';
import { checkOptions } from '../base/check-options.js';
import { didYouMean } from '../base/suggest.js';
import { type DeviceScope, deviceUnder } from './device.js';
import { located, misfit } from './misfit.js';
import { checkMode, type Mode } from './mode.js';
import { within, without } from './scopes.js';
import { elementCount, type TensorSpec } from './tensor-spec.js';

export { located, misfit } from './misfit.js';
export { type Dim, elementCount, sameShape, shapeText, type TensorSpec } from './tensor-spec.js';

/** What an op type means for the graph. */
export interface OpDef<A> {
  readonly type: string;
  /** Specs of the outputs; throws ML_GRAPH through `misfit` when the inputs do not fit. */
  infer(inputs: readonly Tensor[], attrs: A): readonly TensorSpec[];
  /** Inputs that are variables to change or to look at, not values to read: those are never read from a copy. */
  takesVariable?(index: number): boolean;
  /** Gradients with respect to the inputs, given those of the outputs (absent ones are zero). */
  gradient?(op: Op<A>, grads: readonly (Tensor | undefined)[]): readonly (Tensor | undefined)[];
}

/** A result of an op: a node of a graph, known by dtype and shape until a session runs. */
export class Tensor {
  readonly op: Op;
  readonly index: number;
  readonly spec: TensorSpec;

  constructor(op: Op, index: number, spec: TensorSpec) {
    this.op = op;
    this.index = index;
    this.spec = spec;
  }

  get graph(): Graph {
    return this.op.graph;
  }

  get name(): string {
    return `${this.op.name}:${this.index}`;
  }

  /** Whether each example has its own row. */
  get perExample(): boolean {
    return this.spec.shape[0] === 'batch';
  }

  /** Width of a row for per-example tensors of rank 1 and 2, else the number of elements. */
  get columns(): number {
    return elementCount(this.perExample ? this.spec.shape.slice(1) : this.spec.shape);
  }
}

/** A node of a graph: what it computes, from what, under which name. */
export class Op<A = unknown> {
  readonly graph: Graph;
  readonly name: string;
  readonly def: OpDef<A>;
  readonly inputs: readonly Tensor[];
  readonly attrs: A;
  readonly controlInputs: readonly Op[];
  readonly outputs: readonly Tensor[];
  /** Where it belongs, such as `/job:ps/task:1`; empty when nobody said. */
  readonly device: string;
  readonly #place: CallPlace;

  constructor(
    graph: Graph,
    { name, device, place }: { readonly name: string; readonly device: string; readonly place: CallPlace },
    def: OpDef<A>,
    inputs: readonly Tensor[],
    attrs: A,
    control: readonly Op[],
  ) {
    this.graph = graph;
    this.name = name;
    this.device = device;
    this.#place = place;
    this.def = def;
    // A copy: the caller may go on using its array.
    this.inputs = [...inputs];
    this.attrs = attrs;
    this.controlInputs = control;
    const specs = def.infer(this.inputs, attrs);
    this.outputs = specs.map((spec, index) => new Tensor(this as Op, index, spec));
  }

  get type(): string {
    return this.def.type;
  }

  /** The line of the user's code that made it, such as `ranker.ts:12:5`; undefined for ops of built-in models. */
  get place(): string | undefined {
    return this.#place.text;
  }

  /** The only output. */
  get output(): Tensor {
    return this.outputs[0]!;
  }
}

/** What a variable is made of, for creators to pass on. */
export interface VariableOptions {
  readonly name: string;
  readonly shape: readonly number[];
  readonly initial: () => Float32Array;
  readonly trainable: boolean;
}

export type VariableCreator = (next: (options: VariableOptions) => Tensor, options: VariableOptions) => Tensor;

/**
 * What the known collections of a graph hold, by name. Whoever begins a collection in this package adds its line with a
 * declaration of this module, as sparse/steps does for tables.
 */
export interface Collections {
  readonly variables: Tensor;
  readonly local_variables: Tensor;
  readonly global_step: Tensor;
  readonly monolith_cached_variables: Tensor;
  readonly update_ops: Op;
}

export interface GraphOptions {
  /** Default: none, for a graph that is trained, evaluated and predicted with. */
  readonly mode?: Mode;
}

/** What a model is built in: ops with their tensors, names, scopes, devices and collections. */
export class Graph {
  /** What it is built for; null: for all modes, and a run of it trains when it updates something. */
  readonly mode: Mode | null;
  readonly #ops = new Map<string, Op>();
  /** The least suffix of a name that may be free. */
  readonly #suffixes = new Map<string, number>();
  readonly #collections = new Map<string, unknown[]>();
  readonly #scopes: string[] = [];
  readonly #control: (readonly Op[])[] = [];
  readonly #devices: DeviceScope[] = [];
  readonly #creators: VariableCreator[] = [];
  readonly #copies = new Map<Tensor, Tensor>();
  readonly #meta = new Map<string, unknown>();
  #finalized = false;

  constructor(options: GraphOptions = {}) {
    const { mode } = checkOptions('new Graph', options, ['mode']);
    this.mode = mode === undefined ? null : checkMode('new Graph', mode);
  }

  get ops(): readonly Op[] {
    return [...this.#ops.values()];
  }

  get finalized(): boolean {
    return this.#finalized;
  }

  /** Adds an op; the name is made unique by a suffix `_1`, `_2`, … as TensorFlow does. */
  add<A>(def: OpDef<A>, inputs: readonly Tensor[], attrs: A, name?: string): Op<A> {
    if (this.#finalized) throw misfit(name ?? def.type, 'the graph is final: nothing can be added after begin()');
    for (const input of inputs) {
      if (input.graph !== this) throw misfit(name ?? def.type, `input ${input.name} is of another graph`);
    }
    const unique = this.#uniqueName(name ?? def.type);
    const device = deviceUnder(this.#devices, { name: unique, type: def.type });
    const values = inputs.map((input, index) =>
      def.takesVariable?.(index) ? input : (this.#copies.get(input) ?? input),
    );
    const place = new CallPlace();
    try {
      const op = new Op(this, { name: unique, device, place }, def, values, attrs, this.#control.flat());
      this.#ops.set(unique, op as Op);
      return op;
    } catch (error) {
      throw located(error, { name: unique, place: place.text });
    }
  }

  op(name: string): Op {
    const op = this.#ops.get(name);
    if (op === undefined) throw misfit(name, 'there is no op of this name', didYouMean(name, [...this.#ops.keys()]));
    return op;
  }

  /** The tensor called `op:index` (or `op`, meaning its first output). */
  tensor(name: string): Tensor {
    // Names of ops may hold colons themselves: lookups are called `feature:start_end`.
    const colon = this.#ops.has(name) ? -1 : name.lastIndexOf(':');
    const op = this.op(colon < 0 ? name : name.slice(0, colon));
    const tensor = op.outputs[colon < 0 ? 0 : Number(name.slice(colon + 1))];
    if (tensor === undefined) throw misfit(name, 'the op has no such output');
    return tensor;
  }

  /** The scope that is open, without a slash at the end; empty at the root. */
  get scope(): string {
    return this.#scopes.join('/');
  }

  /** Ops made by `body` have their names under `name/`. */
  nameScope<T>(name: string, body: () => T): T {
    return within(this.#scopes, name, body);
  }

  /** Ops made by `body` have the names they ask for, whatever scope is open: slots are named after their variable. */
  rootScope<T>(body: () => T): T {
    return without(this.#scopes, body);
  }

  /** As `rootScope`; ops made by `body` wait for nobody either, as those of tf.init_scope. */
  initScope<T>(body: () => T): T {
    return without(this.#control, () => this.rootScope(body));
  }

  /** Ops made by `body` run after `ops`. */
  controlDependencies<T>(ops: readonly (Op | Tensor)[], body: () => T): T {
    const before = ops.map((item) => (item instanceof Tensor ? item.op : item));
    return within(this.#control, before, body);
  }

  /** The device that an op made here would have. */
  get deviceHere(): string {
    return deviceUnder(this.#devices, { name: '', type: '' });
  }

  /** Ops made by `body` are on `device`; what it leaves open comes from the scopes around it, unless it is null. */
  device<T>(device: DeviceScope, body: () => T): T {
    return within(this.#devices, device, body);
  }

  /** Variables made by `body` are made by `creator`, which gets the way they would be made without it. */
  variableCreatorScope<T>(creator: VariableCreator, body: () => T): T {
    return within(this.#creators, creator, body);
  }

  /** Creators of the open scopes, outermost first. */
  get variableCreators(): readonly VariableCreator[] {
    return this.#creators;
  }

  /** From now on ops that read `variable` read `copy`. Fetches and updates are about the variable as before. */
  readInstead(variable: Tensor, copy: Tensor): void {
    this.#copies.set(variable, copy);
  }

  /** What belongs to this graph under a key, made on first use (graph_meta). */
  getMeta<T>(key: string, factory: () => T): T {
    if (!this.#meta.has(key)) this.#meta.set(key, factory());
    return this.#meta.get(key) as T;
  }

  addToCollection(name: string, value: unknown): void {
    const list = this.#collections.get(name);
    if (list === undefined) this.#collections.set(name, [value]);
    else list.push(value);
  }

  getCollection<Name extends keyof Collections>(name: Name): readonly Collections[Name][];
  getCollection<T = unknown>(name: string): readonly T[];
  getCollection(name: string): readonly unknown[] {
    return [...(this.#collections.get(name) ?? [])];
  }

  /** Collections that hold something, in the order they were begun. */
  get collectionNames(): readonly string[] {
    return [...this.#collections.keys()];
  }

  /** Seals the graph: later additions throw. */
  finalize(): void {
    this.#finalized = true;
  }

  #uniqueName(name: string): string {
    const full = [...this.#scopes, name].join('/');
    if (!this.#ops.has(full)) return full;
    // Smaller suffixes are taken: counting from the first one would take a large graph forever.
    let n = this.#suffixes.get(full) ?? 1;
    while (this.#ops.has(`${full}_${n}`)) n++;
    this.#suffixes.set(full, n);
    return `${full}_${n}`;
  }
}
