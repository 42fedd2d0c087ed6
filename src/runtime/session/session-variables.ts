/**
 * @file The variables of a session: where each lies in shared memory, and its newest values for whoever reads it.
 *
 * A backend may have newer ones elsewhere; reading brings them home first, writing makes those elsewhere old.
 */
import { didYouMean } from '../../base/suggest.js';
import { type Graph, misfit, type Tensor } from '../../graph/graph.js';
import { LOCAL_VARIABLES, VARIABLES, type VariableAttrs } from '../../graph/ops/state.js';
import type { Arena } from '../../memory/arena.js';
import { type Floats, floatsOf, type Ids, idsOf } from '../../memory/given-arrays.js';
import { type Views, view } from '../../memory/views.js';
import type { VariableHomes } from '../backends/backend.js';

interface Variable {
  readonly tensor: Tensor;
  readonly address: number;
}

export class SessionVariables {
  readonly #views: Views;
  readonly #variables = new Map<string, Variable>();
  #homes: VariableHomes | undefined;

  /** Places all variables of the graph, with their initial values. */
  constructor(graph: Graph, views: Views, arena: Arena) {
    this.#views = views;
    for (const collection of [VARIABLES, LOCAL_VARIABLES] as const) {
      for (const tensor of graph.getCollection(collection)) this.#place(tensor, arena);
    }
  }

  /** The backend changes them elsewhere from now on. */
  follow(homes: VariableHomes): void {
    this.#homes = homes;
  }

  /** Whether newer values may be elsewhere. */
  get leaveHome(): boolean {
    return this.#homes !== undefined;
  }

  get addresses(): readonly number[] {
    return [...this.#variables.values()].map(({ address }) => address);
  }

  #place(tensor: Tensor, arena: Arena): void {
    const { dtype, shape, initial } = tensor.op.attrs as VariableAttrs;
    const count = tensor.columns;
    const values = initial();
    if (values.length !== count) throw misfit(tensor.op, `its initial value does not fill [${shape}]`);
    const address = arena.alloc(count * (dtype === 'int64' ? 8 : 4), tensor.op.name);
    this.#variables.set(tensor.op.name, { tensor, address });
    this.write(tensor.op.name, values);
  }

  get names(): readonly string[] {
    return [...this.#variables.keys()];
  }

  has(name: string): boolean {
    return this.#variables.has(name);
  }

  address(name: string): number {
    return this.#variable(name).address;
  }

  /** The newest values, in place; the thread waits for those that are away. */
  read(name: string): Float32Array | BigInt64Array {
    const values = this.#valuesOf(name);
    if (this.#homes?.isAway(values.byteOffset)) this.#homes.bringHomeNow(values.byteOffset, values);
    return values;
  }

  write(name: string, given: Floats | Ids): void {
    const target = this.#valuesOf(name);
    const { op, spec } = this.#variable(name).tensor;
    const refuse = (reason: string, hint?: string) => misfit(op, `its values are ${spec.dtype}: ${reason}`, hint);
    const values = spec.dtype === 'int64' ? idsOf(given, refuse) : floatsOf(given, refuse);
    if (values.length !== target.length) {
      throw misfit(op, `it has ${target.length} values, [${spec.shape}], and ${values.length} were given`);
    }
    if (target instanceof BigInt64Array) target.set(values as BigInt64Array);
    else target.set(values as Float32Array);
    this.#homes?.changed(target.byteOffset);
  }

  /** Says that the values of a variable were changed in place. */
  changed(tensor: Tensor): void {
    this.#homes?.changed(this.#valuesOf(tensor.op.name).byteOffset);
  }

  /** Brings those of them home that are away; the thread stays free meanwhile. */
  async bringHome(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const values = this.#valuesOf(name);
      await this.#homes?.bringHome(values.byteOffset, values);
    }
  }

  #valuesOf(name: string): Float32Array | BigInt64Array {
    const { tensor, address } = this.#variable(name);
    return tensor.spec.dtype === 'int64'
      ? view(BigInt64Array, this.#views.buffer, address, tensor.columns, name)
      : view(Float32Array, this.#views.buffer, address, tensor.columns, name);
  }

  #variable(name: string): Variable {
    const variable = this.#variables.get(name);
    if (variable !== undefined) return variable;
    const asked = String(name);
    throw misfit(asked, 'the session has no such variable', didYouMean(asked, this.names));
  }
}
