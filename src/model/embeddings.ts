/**
 * @file Embeddings of features as a model asks for them: which tables there are, what their rows are made of, and how
 * the rows of an example's ids become one.
 *
 * Each feature's ids are its own: a table for each, with all 64 bits. Features share a table where the model says so.
 */
import { checkOptions } from '../base/check-options.js';
import type { Field, Lifetime } from '../data/field.js';
import { type Features, weightsOf } from '../data/schema.js';
import { misfit, type Tensor } from '../graph/graph.js';
import { batchMatMul } from '../graph/ops/batch-matmul.js';
import { columns } from '../graph/ops/columns.js';
import { div, maximum } from '../graph/ops/elementwise.js';
import { scaleGroups, sumInner } from '../graph/ops/inner.js';
import { sliceInner } from '../graph/ops/positions.js';
import { scaleRows } from '../graph/ops/rows.js';
import { reshape } from '../graph/ops/shape.js';
import { type Ids, tensorOfIds } from '../graph/typed-inputs.js';
import type { FloatCompressorMessage, InitializerMessage, OptimizerMessage } from '../sparse/config/config-messages.js';
import { ZerosInitializer } from '../sparse/config/initializers.js';
import { defineTable, type SegmentOptions, type TableConfig } from '../sparse/config/table-config.js';
import { embeddingLookup } from '../sparse/steps/embedding-ops.js';
import type { Pooling } from '../sparse/steps/pooled-shape.js';
import { ROW_INITIALIZER, ROW_OPTIMIZER } from './defaults.js';

export interface EmbedOptions {
  /** Floats of a row. */
  readonly dim: number;
  /** Whether a row also has a bias, which `m.biases()` adds up. Default: false. */
  readonly bias?: boolean;
  /**
   * Features share one table, whose name this is; `true` for that of the first feature. Another call with the same name
   * looks up in the same table. Default: a table for each feature.
   */
  readonly share?: boolean | string;
  /**
   * How the rows of many ids become one: their `sum`, their `mean`, or the first n of them as a sequence,
   * `[batch, n, dim]`. With weights: the weighted sum or mean. Default: `mean`, and `sum` where ids have weights.
   */
  readonly combiner?: Pooling;
  /** How rows are stepped. Default: that of the model. */
  readonly optimizer?: OptimizerMessage;
  /** How biases are stepped, where it is another way. */
  readonly biasOptimizer?: OptimizerMessage;
  /** What rows start from. */
  readonly initializer?: InitializerMessage;
  /** How serving keeps the rows. Default: as they are. */
  readonly compressor?: FloatCompressorMessage;
}

interface Shared {
  readonly table: TableConfig;
  readonly dim: number;
  readonly bias: boolean;
}

const EPSILON = 1e-12;

export class Embeddings {
  readonly #features: Features;
  readonly #inputs: Readonly<Record<string, unknown>>;
  readonly #optimizer: OptimizerMessage;
  readonly #tables = new Map<string, Shared>();
  readonly #biases: Tensor[] = [];

  constructor(
    features: Features,
    inputs: Readonly<Record<string, unknown>>,
    optimizer: OptimizerMessage = ROW_OPTIMIZER,
  ) {
    this.#features = features;
    this.#inputs = inputs;
    this.#optimizer = optimizer;
  }

  /** The biases of all features that were embedded with one, `[batch]` each. */
  get biases(): readonly Tensor[] {
    return this.#biases;
  }

  embed(features: readonly Ids[], options: EmbedOptions): Tensor[] {
    checkOptions('m.embed', options, [
      'dim',
      'bias',
      'share',
      'combiner',
      'optimizer',
      'biasOptimizer',
      'initializer',
      'compressor',
    ]);
    const { share } = options;
    const tensors = features.map(tensorOfIds);
    const shared = typeof share === 'string' ? share : share === true ? tensors[0]?.op.name : undefined;
    return tensors.map((ids) =>
      this.#lookup(
        ids,
        this.#tableOf(shared ?? this.#freeName(ids.op.name), shared !== undefined, ids, options),
        options,
      ),
    );
  }

  /** The feature's name; with `_1`, `_2` where it has a table already. */
  #freeName(name: string): string {
    let free = name;
    for (let n = 1; this.#tables.has(free); n++) free = `${name}_${n}`;
    return free;
  }

  #tableOf(name: string, shared: boolean, ids: Tensor, options: EmbedOptions): Shared {
    const { dim, bias = false } = options;
    const known = shared ? this.#tables.get(name) : undefined;
    if (known !== undefined) {
      if (known.dim === dim && known.bias === bias) return known;
      const [rows, wanted] = [known, { dim, bias }].map((row) => `${row.dim} floats${row.bias ? ' and a bias' : ''}`);
      throw misfit(name, `its rows have ${rows}, and ${ids.op.name} wants ${wanted}`);
    }
    if (!Number.isInteger(dim) || dim < 1)
      throw misfit(ids.op.name, `an embedding cannot have ${dim} floats`, 'dim: 16');
    const field = Object.hasOwn(this.#features, ids.op.name) ? this.#features[ids.op.name]!.field : undefined;
    const made = { table: tableFor(name, segmentsOf(options, this.#optimizer), lifetimeOf(field)), dim, bias };
    this.#tables.set(name, made);
    return made;
  }

  #lookup(ids: Tensor, { table, dim, bias }: Shared, { combiner }: EmbedOptions): Tensor {
    const rows = this.#pooled(ids, table, combiner);
    if (!bias) return rows;
    const [first, last] = [bias ? 1 : 0, dim + 1];
    if (typeof combiner === 'object') {
      this.#biases.push(reshape(sumInner(sliceInner(rows, 0, 1, { axis: 2 }), { axis: 1 }), []));
      return sliceInner(rows, first, last, { axis: 2, name: `${ids.op.name}/rows` });
    }
    this.#biases.push(columns(rows, 0, 1, { name: `${ids.op.name}/bias` }));
    return columns(rows, first, last, { name: `${ids.op.name}/row` });
  }

  #pooled(ids: Tensor, table: TableConfig, combiner: Pooling | undefined): Tensor {
    const { name } = ids.op;
    if (!ids.spec.ragged) {
      if (combiner === undefined || combiner === 'sum' || combiner === 'mean') return embeddingLookup(ids, table);
      throw misfit(name, 'it has one id for each example, and no sequence of them', 'f.ids() has many');
    }
    const weights = this.#inputs[weightsOf(name)] as Tensor | undefined;
    if (weights === undefined) return embeddingLookup(ids, table, { pooling: combiner ?? 'mean' });
    const n = typeof combiner === 'object' ? combiner.firstN : weights.columns;
    const rows = embeddingLookup(ids, table, { pooling: { firstN: n } });
    const used = n === weights.columns ? weights : columns(weights, 0, n);
    if (typeof combiner === 'object') return scaleGroups(used, rows);
    const sum = reshape(batchMatMul(reshape(used, [1, n]), rows), [rows.spec.shape.at(-1) as number]);
    if (combiner !== 'mean') return sum;
    return scaleRows(div(1, maximum(sumInner(used), EPSILON)), sum);
  }
}

function segmentsOf(options: EmbedOptions, common: OptimizerMessage): SegmentOptions[] {
  const {
    dim,
    bias = false,
    optimizer = common,
    biasOptimizer = optimizer,
    initializer = ROW_INITIALIZER,
    compressor,
  } = options;
  const kept = compressor === undefined ? {} : { compressor };
  const rows = { dim, initializer, optimizer, ...kept };
  return bias ? [{ dim: 1, initializer: ZerosInitializer(), optimizer: biasOptimizer, ...kept }, rows] : [rows];
}

const lifetimeOf = (field: Field | undefined): Lifetime | undefined =>
  field?.role === 'id' || field?.role === 'ids' ? field : undefined;

/** Expired rows are looked for so often. */
const EVICT_HOURS = 24;

function tableFor(name: string, segments: readonly SegmentOptions[], lifetime: Lifetime | undefined): TableConfig {
  const { minCount = 1, expireDays, remembered } = lifetime ?? {};
  const expiry =
    expireDays === undefined ? {} : { defaultExpireTime: expireDays, featureEvictEveryNHours: EVICT_HOURS };
  const table = defineTable(name, segments, expiry);
  if (minCount === 1) return table;
  // An id gets a row after so many sightings before this one.
  const thresholds = { defaultOccurrenceThreshold: minCount - 1 };
  return { ...table, admission: { thresholds, ...(remembered !== undefined && { capacity: remembered }) } };
}
