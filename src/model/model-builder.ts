/**
 * @file What a model function is handed beside its inputs: the graph, the mode, and ways to say what is predicted.
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import type { Features, LabelName, Schema } from '../data/schema.js';
import { type Graph, misfit, Tensor } from '../graph/graph.js';
import type { Mode } from '../graph/mode.js';
import { addN } from '../graph/ops/elementwise.js';
import { reshape } from '../graph/ops/shape.js';
import type { Ids } from '../graph/typed-inputs.js';
import type { OptimizerMessage } from '../sparse/config/config-messages.js';
import { Embeddings, type EmbedOptions } from './embeddings.js';
import { type HeadKind, type HeadLoss, Heads, makeHead } from './heads.js';

/** What `m.binary`, `m.regression` and `m.multiclass` take beside the logit. */
export interface HeadOptions<F extends Features = Features> {
  /** Default: the label of the model. */
  readonly label?: LabelName<F>;
  /** In place of the loss of the kind: a function of `losses`, or one's own, with a value per example. */
  readonly loss?: HeadLoss;
  /** A weight per example that its loss is multiplied by. */
  readonly weights?: Tensor;
  /** What the head counts among several. Default: 1. */
  readonly weight?: number;
}

/** What a builder is made of. */
export interface BuilderParts<F extends Features> {
  readonly schema: Schema<F>;
  /** Placeholders, and standardised numbers, by feature. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Null: the model has none. */
  readonly label?: string | null | undefined;
  readonly rowOptimizer?: OptimizerMessage | undefined;
}

/** A logit per example, `[batch]` or `[batch, 1]`, or several that are added up. */
export type Logit = Tensor | readonly Tensor[];

export class ModelBuilder<F extends Features = Features> {
  readonly graph: Graph;
  readonly mode: Mode;
  /** Whether there is a label: a model may be told that it has none. */
  readonly hasLabel: boolean;
  readonly #schema: Schema<F>;
  readonly #inputs: Readonly<Record<string, unknown>>;
  readonly #label: string | undefined;
  readonly #embeddings: Embeddings;

  constructor(graph: Graph, mode: Mode, { schema, inputs, label, rowOptimizer }: BuilderParts<F>) {
    this.graph = graph;
    this.mode = mode;
    this.#schema = schema;
    this.#inputs = inputs;
    this.#label = label === null ? undefined : (label ?? onlyLabel(schema.features));
    this.hasLabel = label !== null;
    this.#embeddings = new Embeddings(schema.features, inputs, rowOptimizer);
  }

  /**
   * Embeddings of ids: `[batch, dim]` for a feature, a list of them for several. Each feature has a table of its own,
   * called like it, unless `share` says otherwise.
   *
   * ```ts
   * const [user, item, genres] = m.embed([userId, movieId, genreIds], { dim: 16, bias: true });
   * ```
   */
  embed(feature: Ids, options: EmbedOptions): Tensor;
  embed<const List extends readonly Ids[]>(
    features: List,
    options: EmbedOptions,
  ): { readonly [Index in keyof List]: Tensor };
  embed(features: Ids | readonly Ids[], options: EmbedOptions): Tensor | readonly Tensor[] {
    if (Array.isArray(features)) return this.#embeddings.embed(features as readonly Ids[], options);
    return this.#embeddings.embed([features as Ids], options)[0]!;
  }

  /** The sum of the biases of all features that were embedded with one: `[batch]`. */
  biases(): Tensor {
    const { biases } = this.#embeddings;
    if (biases.length === 0) throw misfit('m.biases', 'no feature has a bias', 'm.embed(…, { dim, bias: true })');
    return biases.length === 1 ? biases[0]! : addN(biases, { name: 'biases' });
  }

  /**
   * Predicts the probability of a label that is 0 or 1, from its logit: sigmoid and cross entropy.
   *
   * ```ts
   * return m.binary([deep, nn.fm([user, item]), m.biases()]);
   * ```
   */
  binary(logit: Logit, options: HeadOptions<F> = {}): Heads {
    return this.#head('binary', sumOf('m.binary', logit), options);
  }

  /** Predicts a number: squared error. */
  regression(value: Logit, options: HeadOptions<F> = {}): Heads {
    return this.#head('regression', sumOf('m.regression', value), options);
  }

  /** Predicts which of n classes it is, from `[batch, n]` logits and the index of the class. */
  multiclass(logits: Tensor, options: HeadOptions<F> = {}): Heads {
    return this.#head('multiclass', logits, options);
  }

  /** Several heads: logits of binary ones by the name of their label, or a list of what the functions above gave. */
  heads(list: readonly Heads[] | { readonly [Name in LabelName<F>]?: Logit }): Heads {
    const made = Array.isArray(list)
      ? (list as readonly Heads[])
      : Object.entries(list).map(([label, logit]) => this.binary(logit as Logit, { label: label as LabelName<F> }));
    if (made.length === 0) throw misfit('m.heads', 'it is given no head');
    const heads = made.flatMap((part) => part.list);
    const names = heads.map(({ head }) => head.name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw misfit('m.heads', `two heads predict ${twice}`);
    return new Heads(heads);
  }

  /** The label of this name, or that of the model. ML_OPTION where there is none. */
  labelOf(where: string, name: string | undefined = this.#label): { readonly name: string; readonly label: Tensor } {
    const label = name !== undefined && Object.hasOwn(this.#inputs, name) ? this.#inputs[name] : undefined;
    const known = labelsOf(this.#schema.features);
    if (name === undefined) {
      const reason = this.hasLabel ? 'it is not said which feature is the label' : 'the model has no label';
      throw new MonolithError(
        'ML_OPTION',
        { where, option: 'label', reason },
        { hint: known.length === 0 ? 'f.label() of a schema is one' : `there are ${known.join(', ')}` },
      );
    }
    if (!(label instanceof Tensor) || !known.includes(name)) {
      const reason = `the schema has no feature ${name} of one float to be the label`;
      const hint = didYouMean(name, known) ?? `there are ${known.join(', ')}`;
      throw new MonolithError('ML_OPTION', { where, option: 'label', reason }, { hint });
    }
    return { name, label };
  }

  #head(kind: Exclude<HeadKind, 'own'>, logit: Tensor, options: HeadOptions<F>): Heads {
    const where = `m.${kind}`;
    const { weight = 1, loss, weights, label } = checkOptions(where, options, ['label', 'loss', 'weights', 'weight']);
    return new Heads([{ head: makeHead(kind, { ...this.labelOf(where, label), logit, loss, weights }), weight }]);
  }
}

/** What can be a label: what `f.label()` made, and features of one float that `f` did not make. */
function labelsOf(features: Features): string[] {
  return Object.entries(features).flatMap(([name, { kind, field, ...rest }]) =>
    field?.role === 'label' || (field === undefined && kind === 'dense' && 'width' in rest && rest.width === 1)
      ? [name]
      : [],
  );
}

/** The label that a schema marks, if it is one. */
function onlyLabel(features: Features): string | undefined {
  const marked = Object.keys(features).filter((name) => features[name]!.field?.role === 'label');
  return marked.length === 1 ? marked[0] : undefined;
}

/** One logit per example. */
function sumOf(where: string, logit: Logit): Tensor {
  const terms = (logit instanceof Tensor ? [logit] : logit).map((term) => {
    if (!(term instanceof Tensor) || !term.perExample || term.columns !== 1) {
      throw misfit(where, 'it needs one float per example, or a list of such', 'nn.mlp(x, [64, 1]) gives one');
    }
    return term.spec.shape.length === 1 ? term : reshape(term, []);
  });
  if (terms.length === 0) throw misfit(where, 'it is given no logit');
  return terms.length === 1 ? terms[0]! : addN(terms, { name: 'logit' });
}
