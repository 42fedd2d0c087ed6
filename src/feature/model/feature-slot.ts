/**
 * @file How a model speaks of embeddings: slots (logical tables), slices of them, and columns (features that use a
 * slot).
 *
 * Mirrors native_training's feature module. Slots whose configs are equal share one physical table, named after
 * the md5 of their names. Slices must be declared before the first lookup, since they decide the width of the rows.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { Rate } from '../../base/rates/rate.js';
import { misfit, type Op, type Tensor } from '../../graph/graph.js';
import { columns } from '../../graph/ops/columns.js';
import { sliceInner } from '../../graph/ops/positions.js';
import { sequenceMask } from '../../graph/ops/sequence.js';
import { type Ids, tensorOfIds } from '../../graph/typed-inputs.js';
import { FEATURE_SLOTS } from '../../memory/filter-layout.js';
import { needsFilter } from '../../sparse/admission/admission-filter.js';
import type { Admission } from '../../sparse/config/admission.js';
import type {
  EmbeddingHashTableConfig,
  FloatCompressorMessage,
  InitializerMessage,
  OptimizerMessage,
} from '../../sparse/config/config-messages.js';
import { RandomUniformInitializer, ZerosInitializer } from '../../sparse/config/initializers.js';
import { AdagradOptimizer, Fp16Compressor, Fp32Compressor, FtrlOptimizer } from '../../sparse/config/optimizers.js';
import { sharedName } from '../../sparse/config/shared-name.js';
import {
  HashTableConfigInstance,
  ratedSegment,
  type SegmentOptions,
  type TableConfig,
} from '../../sparse/config/table-config.js';
import { mergeSegments, type RatedSegment } from '../../sparse/config/table-messages.js';
import { mergeSlots } from '../../sparse/many/merged-multi-type-hash-table.js';
import {
  applyEmbeddingGradients,
  type EmbeddingUpdateOptions,
  embeddingLookup,
} from '../../sparse/steps/embedding-ops.js';
import type { Pooling } from '../../sparse/steps/pooling.js';
import { type Combiner, FirstN, ReduceMean, ReduceSum } from './combiners.js';

const DEFAULT_EXPIRE_DAYS = 36500;

export interface FeatureSlotConfig {
  /** Default: the slot id. */
  readonly name?: string;
  /** The v2 slot in the ids of the features: what thresholds and expiry go by. */
  readonly slotId?: number;
  /** Sightings before an id of the slot gets a row. Default: 0. */
  readonly occurrenceThreshold?: number;
  /** Days without an update after which an id of the slot may go. Default: 36500. */
  readonly expireTime?: number;
  /** The first slice is then a bias of dimension 1. */
  readonly hasBias?: boolean;
  readonly biasInitializer?: InitializerMessage;
  readonly biasOptimizer?: OptimizerMessage;
  readonly biasCompressor?: FloatCompressorMessage;
  readonly biasLearningRate?: Rate;
  readonly defaultVecInitializer?: InitializerMessage;
  readonly defaultVecOptimizer?: OptimizerMessage;
  readonly defaultVecCompressor?: FloatCompressorMessage;
  readonly defaultVecLearningRate?: Rate;
  /** How often a PeriodicEviction of the slot's table is to evict; a table starts none by itself. */
  readonly featureEvictEveryNHours?: number;
}

/** Columns `[start, end)` of a slot's rows. */
export interface FeatureSlice {
  readonly slot: FeatureSlot;
  readonly start: number;
  readonly end: number;
}

/** A feature of a model: the slices of its rows, and how those start and are stepped. */
export class FeatureSlot {
  readonly name: string;
  readonly bias: FeatureSlice | null;
  readonly #factory: FeatureFactory;
  readonly #config: FeatureSlotConfig;
  readonly #segments: RatedSegment[] = [];

  constructor(factory: FeatureFactory, config: FeatureSlotConfig) {
    this.name = nameOf(config);
    this.#factory = factory;
    this.#config = config;
    this.bias = config.hasBias ? this.#addBias() : null;
  }

  #addBias(): FeatureSlice {
    const { biasInitializer, biasOptimizer, biasCompressor, biasLearningRate } = this.#config;
    return this.#addSlice({
      dim: 1,
      initializer: biasInitializer ?? ZerosInitializer(),
      optimizer: biasOptimizer ?? FtrlOptimizer({ initialAccumulatorValue: 1e-6, beta: 1 }),
      compressor: biasCompressor ?? Fp32Compressor(),
      ...(biasLearningRate === undefined ? {} : { learningRate: biasLearningRate }),
    });
  }

  /** Appends a slice of `dim` weights; what is not given comes from the slot's config. */
  addFeatureSlice(dim: number, options: Omit<SegmentOptions, 'dim'> = {}): FeatureSlice {
    checkOptions('addFeatureSlice', options, ['initializer', 'optimizer', 'compressor', 'learningRate']);
    const { defaultVecInitializer, defaultVecOptimizer, defaultVecCompressor, defaultVecLearningRate } = this.#config;
    return this.#addSlice({
      dim,
      initializer: defaultVecInitializer ?? RandomUniformInitializer(-0.05, 0.05),
      optimizer: defaultVecOptimizer ?? AdagradOptimizer({ initialAccumulatorValue: 1 }),
      compressor: defaultVecCompressor ?? Fp16Compressor(),
      ...(defaultVecLearningRate === undefined ? {} : { learningRate: defaultVecLearningRate }),
      ...options,
    });
  }

  #addSlice(options: SegmentOptions): FeatureSlice {
    const { dim } = options;
    this.#factory.assertOpen(this.name);
    if (!Number.isInteger(dim) || dim < 1) {
      throw misfit(this.name, `a slice cannot have ${dim} dimensions`);
    }
    const start = this.dim;
    this.#segments.push(ratedSegment(options));
    return { slot: this, start, end: start + dim };
  }

  get dim(): number {
    return this.#segments.reduce((dim, { segment }) => dim + (segment.dimSize ?? 0), 0);
  }

  /** Segments with equal neighbours merged: what the table is made of. */
  get mergedSegments(): readonly RatedSegment[] {
    return mergeSegments(this.#segments).merged;
  }

  get slotId(): number | undefined {
    return this.#config.slotId;
  }

  get occurrenceThreshold(): number {
    return this.#config.occurrenceThreshold ?? 0;
  }

  get expireTime(): number {
    return this.#config.expireTime ?? DEFAULT_EXPIRE_DAYS;
  }

  /** What the slot's own table would be. */
  get tableConfig(): EmbeddingHashTableConfig {
    const { featureEvictEveryNHours = 0 } = this.#config;
    return {
      entryConfig: { segments: this.mergedSegments.map(({ segment }) => segment) },
      cuckoo: {},
      ...(featureEvictEveryNHours > 0 ? { enableFeatureEviction: true, featureEvictEveryNHours } : {}),
    };
  }
}

/** The ids of one input looked up in a slot, and how the rows of an example become one. */
export class FeatureColumn {
  readonly slot: FeatureSlot;
  readonly ids: Tensor;
  readonly combiner: Combiner;
  readonly #factory: FeatureFactory;
  #lookup: Tensor | undefined;

  constructor(factory: FeatureFactory, slot: FeatureSlot, ids: Tensor, combiner: Combiner = new ReduceSum()) {
    this.#factory = factory;
    this.slot = slot;
    this.ids = ids;
    this.combiner = combiner;
  }

  /** The combined rows of the feature, all slices side by side: what gradients are asked for. */
  getAllEmbeddingsConcat(): Tensor {
    this.#lookup ??= embeddingLookup(this.ids, this.#factory.tableOf(this.slot), {
      pooling: poolingOf(this.combiner, this.ids.op.name),
    });
    return this.#lookup;
  }

  /** `[batch, n]`: 1 for the positions that have an id. Only with FirstN. */
  getSizeTensor(): Tensor {
    if (this.combiner.maxSeqLength === 0) throw misfit(this.ids.op.name, 'only FirstN has positions');
    return sequenceMask(this.ids, this.combiner.maxSeqLength, { name: `${this.ids.op.name}/size` });
  }

  embeddingLookup(slice: FeatureSlice): Tensor {
    if (slice.slot !== this.slot) {
      throw misfit(this.ids.op.name, 'Slice must come from the dedicated feature slot.');
    }
    const all = this.getAllEmbeddingsConcat();
    if (slice.start === 0 && slice.end === this.slot.dim) return all;
    const name = `${this.ids.op.name}:${slice.start}_${slice.end}`;
    if (this.combiner.maxSeqLength > 0) return sliceInner(all, slice.start, slice.end, { axis: 2, name });
    return columns(all, slice.start, slice.end, { name });
  }

  getBias(): Tensor {
    if (this.slot.bias === null) throw misfit(this.slot.name, 'the slot has no bias');
    return this.embeddingLookup(this.slot.bias);
  }
}

export interface FeatureFactoryOptions {
  /** Ids that the admission filter of a session remembers when a slot has a threshold. Default: 300 million. */
  readonly filterCapacity?: number;
  readonly filterSplitNum?: number;
}

/** Makes slots and columns, and decides which slots share a table. */
export class FeatureFactory {
  readonly #options: FeatureFactoryOptions;
  readonly #slots = new Map<string, FeatureSlot>();
  #tables: ReadonlyMap<FeatureSlot, TableConfig> | undefined;

  constructor(options: FeatureFactoryOptions = {}) {
    checkOptions('FeatureFactory', options, ['filterCapacity', 'filterSplitNum']);
    this.#options = options;
  }

  createFeatureSlot(config: FeatureSlotConfig): FeatureSlot {
    checkOptions('createFeatureSlot', config, [
      'name',
      'slotId',
      'occurrenceThreshold',
      'expireTime',
      'hasBias',
      'biasInitializer',
      'biasOptimizer',
      'biasCompressor',
      'biasLearningRate',
      'defaultVecInitializer',
      'defaultVecOptimizer',
      'defaultVecCompressor',
      'defaultVecLearningRate',
      'featureEvictEveryNHours',
    ]);
    const name = nameOf(config);
    this.assertOpen(name);
    if (this.#slots.has(name)) throw misfit(name, `Duplicate names for the table. Name: ${name}`);
    const slot = new FeatureSlot(this, checkSlot(config));
    this.#slots.set(name, slot);
    return slot;
  }

  /** A feature of a slot; its rows are summed unless another combiner is given. */
  createFeatureColumn(slot: FeatureSlot, ids: Ids, combiner?: Combiner): FeatureColumn {
    return new FeatureColumn(this, slot, tensorOfIds(ids), combiner);
  }

  assertOpen(name: string): void {
    if (this.#tables !== undefined) {
      throw misfit(name, 'slots and slices must be declared before the first lookup');
    }
  }

  /** The physical table of a slot. The first call fixes all slots. */
  tableOf(slot: FeatureSlot): TableConfig {
    this.#tables ??= mergeTables([...this.#slots.values()], this.#options);
    const table = this.#tables.get(slot);
    if (table === undefined) {
      throw misfit(slot.name, 'the slot is of another factory');
    }
    return table;
  }

  applyEmbeddingGradients(
    gradsAndColumns: readonly (readonly [Tensor, FeatureColumn])[],
    options: EmbeddingUpdateOptions = {},
  ): Op[] {
    const pairs = gradsAndColumns.map(([grad, column]) => [grad, column.getAllEmbeddingsConcat()] as const);
    return applyEmbeddingGradients(pairs, options);
  }
}

function poolingOf(combiner: Combiner, feature: string): Pooling {
  if (combiner instanceof ReduceSum) return 'sum';
  if (combiner instanceof ReduceMean) return 'mean';
  if (combiner instanceof FirstN) return { firstN: combiner.maxSeqLength };
  throw misfit(feature, 'a graph has the combiners ReduceSum, ReduceMean and FirstN');
}

function nameOf({ name, slotId }: FeatureSlotConfig): string {
  if (name !== undefined && name !== '') return name;
  if (slotId === undefined) throw misfit('feature slot', 'it has neither a name nor a slot id');
  return String(slotId);
}

/** The config, if its slot id can be one of ids and its numbers count something. */
function checkSlot(config: FeatureSlotConfig): FeatureSlotConfig {
  const { slotId, occurrenceThreshold = 0, expireTime } = config;
  const name = nameOf(config);
  const isCount = (value: number) => Number.isInteger(value) && value >= 0 && value < 2 ** 32;
  if (slotId !== undefined && !(isCount(slotId) && slotId < FEATURE_SLOTS)) {
    throw new MonolithError('ML_FID_SLOT', { limit: FEATURE_SLOTS, slot: slotId });
  }
  if (!isCount(occurrenceThreshold)) throw misfit(name, `${occurrenceThreshold} is no occurrence threshold`);
  if (expireTime !== undefined && !isCount(expireTime)) throw misfit(name, `${expireTime} is no number of days`);
  if (slotId === undefined && (occurrenceThreshold > 0 || expireTime !== undefined))
    throw misfit(name, 'a threshold or an expire time goes by the slot in the ids: give the slot id');
  return config;
}

/** The maps of all slots, which every table and the filter get. */
function slotMaps(slots: readonly FeatureSlot[], options: FeatureFactoryOptions) {
  const known = slots.filter(({ slotId }) => slotId !== undefined);
  if (known.length === 0) return {};
  const slotExpireTimes = known.map(({ slotId, expireTime }) => ({ slot: slotId!, expireTime }));
  const expiry = { slotExpireTimeConfig: { slotExpireTimes, defaultExpireTime: DEFAULT_EXPIRE_DAYS } };
  const thresholds = {
    slotOccurrenceThresholds: known.map(({ slotId, occurrenceThreshold }) => ({ slot: slotId!, occurrenceThreshold })),
  };
  if (!needsFilter(thresholds)) return { expiry };
  const { filterCapacity: capacity, filterSplitNum: splitNum } = options;
  const admission: Admission = {
    thresholds,
    ...(capacity === undefined ? {} : { capacity }),
    ...(splitNum === undefined ? {} : { splitNum }),
  };
  return { expiry, admission };
}

/** Slots with equal configs share a table. */
function mergeTables(slots: readonly FeatureSlot[], options: FeatureFactoryOptions): Map<FeatureSlot, TableConfig> {
  const byName = new Map(slots.map((slot) => [slot.name, slot]));
  const empty = slots.find((slot) => slot.dim === 0);
  if (empty !== undefined) {
    throw misfit(empty.name, `${empty.name} has no slice, pls. check!`);
  }
  const tables = new Map<FeatureSlot, TableConfig>();
  const { expiry, admission } = slotMaps(slots, options);
  const configs = Object.fromEntries(slots.map((slot) => [slot.name, instanceOf(slot, expiry)]));
  for (const { name, config, slots: names } of mergeSlots(configs)) {
    const extraRestoreNames = config.extraRestoreNames.map((extra) => sharedName('hashTable', extra));
    const instance = instanceOf(byName.get(names[0]!)!, expiry, extraRestoreNames);
    const table = { name: sharedName('hashTable', name), instance, ...(admission && { admission }) };
    for (const slot of names) tables.set(byName.get(slot)!, table);
  }
  return tables;
}

function instanceOf(
  slot: FeatureSlot,
  expiry: EmbeddingHashTableConfig = {},
  extraRestoreNames: readonly string[] = [],
): HashTableConfigInstance {
  const rates = slot.mergedSegments.map(({ rate }) => rate);
  return new HashTableConfigInstance({ ...slot.tableConfig, ...expiry }, rates, { extraRestoreNames });
}
