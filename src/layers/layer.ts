/**
 * @file What all layers share: variables under a name of their own, made at the first call and used again by later
 * ones.
 *
 * Names are TensorFlow's: the variables of the second dense layer of a graph are `dense_1/kernel` and `dense_1/bias`.
 */
import { MonolithError } from '../base/errors.js';
import { type Graph, misfit, sameShape, shapeText, type Tensor } from '../graph/graph.js';
import { VARIABLES, type VariableAttrs, variable } from '../graph/ops/state.js';
import { fillInitial, type WeightInitializer } from './weight-initializers.js';

export interface LayerOptions {
  /** Scope of the variables and ops; made unique with `_1`, `_2`. */
  readonly name?: string;
  /** Varies the random first values, which otherwise depend on the names of the variables alone. */
  readonly seed?: number;
}

/** A part of a model with variables of its own, made at its first call and used again by later ones. */
export abstract class Layer {
  readonly #name: string;
  readonly #seed: number;
  readonly #weights = new Map<string, Tensor>();
  #built: { readonly graph: Graph; readonly scope: string } | undefined;

  constructor(kind: string, options: LayerOptions) {
    this.#name = options.name ?? kind;
    this.#seed = options.seed ?? 0;
  }

  /** Full name of the layer; the one it asked for until it is first called. */
  get name(): string {
    return this.#built?.scope ?? this.#name;
  }

  /** Variables of the layer itself, in the order they were made; those of layers inside it are theirs. */
  get weights(): readonly Tensor[] {
    return [...this.#weights.values()];
  }

  /** Runs `body` in the scope of the layer. What does not fit is told with the name of the layer. */
  protected within<T>(graph: Graph, body: () => T): T {
    this.#built ??= { graph, scope: uniqueScope(graph, this.#name) };
    const { scope } = this.#built;
    if (this.#built.graph !== graph) throw misfit(scope, 'the layer belongs to another graph');
    try {
      return graph.rootScope(() => graph.nameScope(scope, body));
    } catch (error) {
      if (!(error instanceof MonolithError) || error.code !== 'ML_GRAPH') throw error;
      const { op, reason, ...rest } = error.fields as { op: string; reason: string };
      if (op.startsWith(scope)) throw error;
      throw new MonolithError('ML_GRAPH', { op: `${scope}/${op}`, reason, ...rest }, { cause: error });
    }
  }

  /** The variable of this name, made at the first call. */
  protected weight(graph: Graph, name: string, shape: readonly number[], initializer: WeightInitializer): Tensor {
    const known = this.#weights.get(name);
    if (known === undefined) {
      const full = `${this.name}/${name}`;
      const made = variable(graph, { name, shape, initial: () => fillInitial(initializer, shape, full, this.#seed) });
      this.#weights.set(name, made);
      return made;
    }
    if (!sameShape(known.spec.shape, shape)) {
      const [found, wanted] = [shapeText(known.spec.shape), shapeText(shape)];
      throw misfit(this.name, `its ${name} has shape ${found}; these inputs want ${wanted}`);
    }
    return known;
  }
}

function uniqueScope(graph: Graph, name: string): string {
  const full = [...(graph.scope === '' ? [] : [graph.scope]), name].join('/');
  const names = graph.ops.map((op) => op.name);
  let unique = full;
  for (let n = 1; names.some((taken) => taken.startsWith(`${unique}/`)); n++) unique = `${full}_${n}`;
  return unique;
}

/** The variables of a graph that `applyGradients` may step, in the order they were made. */
export function trainableVariables(graph: Graph): Tensor[] {
  return graph
    .getCollection(VARIABLES)
    .filter(({ op }) => (op.attrs as VariableAttrs).trainable && op.output.spec.dtype === 'float32');
}
