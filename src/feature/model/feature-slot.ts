/**
 * @file How a model speaks of embeddings: slots, which are logical tables, and slices of them. Columns, the features
 * that use a slot, are in feature-column.ts.
 *
 * Mirrors native_training's feature module.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { Rate } from '../../base/rates/rate.js';
import { misfit, type Tensor } from '../../graph/graph.js';
import { FEATURE_SLOTS } from '../../memory/filter-layout.js';
import type {
  EmbeddingHashTableConfig,
  FloatCompressorMessage,
  InitializerMessage,
  OptimizerMessage,
} from '../../sparse/config/config-messages.js';
import { RandomUniformInitializer, ZerosInitializer } from '../../sparse/config/initializers.js';
import { AdagradOptimizer, Fp16Compressor, Fp32Compressor, FtrlOptimizer } from '../../sparse/config/optimizers.js';
import { ratedSegment, type SegmentOptions } from '../../sparse/config/table-config.js';
import { mergeSegments, type RatedSegment } from '../../sparse/config/table-messages.js';
import type { Combiner } from './combiners.js';

/** Days after which ids may go where a slot says nothing. */
export const DEFAULT_EXPIRE_DAYS = 36500;

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

/** A feature that uses a slot: a FeatureColumn. */
export interface SlotColumn {
  readonly slot: FeatureSlot;
  readonly featureName: string;
  readonly combiner: Combiner;
  readonly ids: Tensor;
}

/** What makes slots: it decides what lookups of their columns are. */
export interface SlotOwner {
  /** Throws where slots and slices are fixed already. */
  assertOpen(slot: string): void;
  /** The combined rows of a feature, all slices side by side: what gradients are asked for. */
  embeddingOf(column: SlotColumn): Tensor;
  /** The columns of one slice. */
  sliceOf(column: SlotColumn, slice: FeatureSlice): Tensor;
  /** The ids of a feature. */
  idsOf(column: SlotColumn): Tensor;
  /** Told of each column that is made. */
  onColumn?(column: SlotColumn): void;
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
  /** What made it. */
  readonly owner: SlotOwner;
  readonly #config: FeatureSlotConfig;
  readonly #segments: RatedSegment[] = [];

  constructor(owner: SlotOwner, config: FeatureSlotConfig) {
    this.name = slotNameOf(config);
    this.owner = owner;
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
    this.owner.assertOpen(this.name);
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

  /** The slices as they were declared, bias included: what a slot like this one is made of again. */
  get slices(): readonly Required<SegmentOptions>[] {
    return this.#segments.map(({ segment, rate }) => ({
      dim: segment.dimSize ?? 0,
      initializer: segment.initConfig!,
      optimizer: segment.optConfig!,
      compressor: segment.compConfig!,
      learningRate: rate,
    }));
  }

  /** Widths of the slices as they were declared, and not as they were merged. */
  get sliceDims(): readonly number[] {
    return this.#segments.map(({ segment }) => segment.dimSize ?? 0);
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

/** Its name: the slot id where there is none. */
export function slotNameOf({ name, slotId }: FeatureSlotConfig): string {
  if (name !== undefined && name !== '') return name;
  if (slotId === undefined) throw misfit('feature slot', 'it has neither a name nor a slot id');
  return String(slotId);
}

/** The config, if its slot id can be one of ids and its numbers count something. */
export function checkSlotConfig(config: FeatureSlotConfig): FeatureSlotConfig {
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
  const { slotId, occurrenceThreshold = 0, expireTime } = config;
  const name = slotNameOf(config);
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
