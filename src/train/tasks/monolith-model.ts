/**
 * @file A model over feature slots: columns and slices by the names of features (native_training/native_model,
 * MonolithModel).
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { AnyClass } from '../../base/params/instantiable-params.js';
import type { Rate } from '../../base/rates/rate.js';
import { type Combiner, FirstN, ReduceMean, ReduceSum } from '../../feature/model/combiners.js';
import type { OutType } from '../../feature/model/embedding-factory.js';
import { FeatureColumn } from '../../feature/model/feature-column.js';
import type { FeatureSlice, FeatureSlot } from '../../feature/model/feature-slot.js';
import { EmbeddingLayoutFactory, joinedSlices } from '../../feature/model/layout-factory.js';
import type { Graph, Tensor } from '../../graph/graph.js';
import type {
  FloatCompressorMessage,
  InitializerMessage,
  OptimizerMessage,
} from '../../sparse/config/config-messages.js';
import { monolithModelParams } from '../task-params.js';
import { dumpUtils } from './dump-utils.js';
import { type FeatureGiven, type FeaturesGiven, isFeature, layoutText, pairsOf, valueError } from './features-given.js';
import { MonolithBaseModel } from './monolith-base-model.js';
import type { TaskInput } from './native-task.js';
import { isFusedLayout } from './parser-ctx.js';
import { type ShareMeta, sharedInput } from './share-slot.js';
import { parseFeatureList, SlotNames } from './slot-names.js';

export type MonolithModelParams = ReturnType<typeof monolithModelParams>;
export type CombinerName = 'reduce_sum' | 'reduce_mean' | 'first_n';

export interface EmbeddingColumnOptions {
  /** Sightings before an id gets a row. Default: `default_occurrence_threshold` of the parameters. */
  readonly occurrenceThreshold?: number | null;
  /** Days without an update after which an id may go. Default: 36500. */
  readonly expireTime?: number;
  /** Positions of a sequence; 0: the rows of an example become one. Default: 0. */
  readonly maxSeqLength?: number;
  /** A feature whose slot this one uses too. */
  readonly sharedName?: string | null;
  /** Default: the first `maxSeqLength` ids where that is given, else the sum. */
  readonly combiner?: Combiner | CombinerName | null;
}

export interface EmbeddingSliceOptions {
  readonly initializer?: InitializerMessage;
  readonly optimizer?: OptimizerMessage;
  readonly compressor?: FloatCompressorMessage;
  readonly learningRateFn?: Rate;
  /** How the features of a group become one. Default: add_n. */
  readonly groupOutType?: 'add_n' | 'concat';
  /** How all become one tensor. Default: they are returned as a list. */
  readonly outType?: OutType | null;
}

const EXPIRE_DAYS = 36500;

/** A model whose features are columns of feature slots, known by their names. */
export abstract class MonolithModel extends MonolithBaseModel<MonolithModelParams> {
  readonly #slots = new Map<string, FeatureSlot>();
  readonly #slices = new Map<string, FeatureSlice>();
  #names: SlotNames | undefined;

  static override params<T>(this: AnyClass<T>) {
    // biome-ignore lint/complexity/noThisInStatic: it is about the class that is asked, not this one
    return monolithModelParams(this);
  }

  protected override begin(graph: Graph): void {
    super.begin(graph);
    this.#slots.clear();
    this.#slices.clear();
  }

  /** The column of a feature: one that exists already is returned as it is. */
  createEmbeddingFeatureColumn(feature: string | number, options: EmbeddingColumnOptions = {}): FeatureColumn {
    checkOptions('createEmbeddingFeatureColumn', options, [
      'occurrenceThreshold',
      'expireTime',
      'maxSeqLength',
      'sharedName',
      'combiner',
    ]);
    const name = this.names.nameOf(feature);
    const known = this.columns.get(name);
    if (known !== undefined) return known;
    const { occurrenceThreshold, expireTime = EXPIRE_DAYS, maxSeqLength = 0, sharedName = null, combiner } = options;
    const threshold = occurrenceThreshold ?? this.p.default_occurrence_threshold;
    const config = { occurrenceThreshold: threshold, expireTime };
    const slot = sharedName === null ? this.#slotOf(name, config) : this.#sharedSlot(name, sharedName, config);
    const column = new FeatureColumn(slot, name, combinerOf(combiner ?? null, maxSeqLength));
    this.columns.set(name, column);
    dumpUtils.recordFeatureColumn({
      featureName: name,
      occurrenceThreshold: threshold,
      expireTime,
      maxSeqLength,
      sharedName,
      combiner: column.combiner.constructor.name,
    });
    return column;
  }

  /**
   * The same slice of some features' rows, made where it is not there yet: a list of tensors, or, with `outType`, one.
   *
   * ```ts
   * const [user, item] = this.lookupEmbeddingSlice(['user', 'item'], 'vec', 16);
   * const wide = this.lookupEmbeddingSlice(['user', 'item'], 'bias', 1, { outType: 'add_n' });
   * ```
   */
  lookupEmbeddingSlice(
    features: FeaturesGiven,
    sliceName: string,
    sliceDim: number | null,
    options: EmbeddingSliceOptions & { readonly outType: OutType },
  ): Tensor;
  lookupEmbeddingSlice(
    features: FeaturesGiven,
    sliceName: string,
    sliceDim?: number | null,
    options?: EmbeddingSliceOptions & { readonly outType?: null },
  ): Tensor[];
  lookupEmbeddingSlice(
    features: FeaturesGiven,
    sliceName: string,
    sliceDim: number | null = null,
    options: EmbeddingSliceOptions = {},
  ): Tensor | Tensor[] {
    checkOptions('lookupEmbeddingSlice', options, [
      'initializer',
      'optimizer',
      'compressor',
      'learningRateFn',
      'groupOutType',
      'outType',
    ]);
    const { groupOutType = 'add_n', outType = null } = options;
    dumpUtils.recordSlice({
      features: layoutText(features),
      sliceName,
      sliceDim,
      groupOutType,
      outType,
      hasRate: options.learningRateFn !== undefined,
    });
    const name = MonolithModel.layoutName(sliceName, features);
    const parts = this.#parts(features, sliceDim);
    const prebuilt = this.#layouts?.getLayout(name);
    if (prebuilt !== undefined) return prebuilt as Tensor | Tensor[];
    const groups = parts.map((part) =>
      part.map(([feature, dim]) => ({ feature, slice: this.#sliceOf(feature, sliceName, dim, options) })),
    );
    this.ctx.featureFactory?.onLayout?.(name, {
      outType,
      parts: groups.flat().map(({ feature, slice: { start, end } }) => {
        return { feature: this.#columnOf(feature).featureName, start, end };
      }),
    });
    const tensors = groups.map((group) => {
      const slices = group.map(({ feature, slice }) => this.#columnOf(feature).embeddingLookup(slice));
      if (slices.length === 1) return slices[0]!;
      return joinedSlices(slices, groupOutType === 'concat' ? 'concat' : 'add_n');
    });
    return outType === null ? tensors : joinedSlices(tensors, outType);
  }

  /** Where lookups are prebuilt, what has them. */
  get #layouts(): EmbeddingLayoutFactory | undefined {
    const { layoutFactory } = this.ctx;
    return layoutFactory instanceof EmbeddingLayoutFactory ? layoutFactory : undefined;
  }

  /** Gradients are taken of layouts where lookups are prebuilt, else of columns. */
  protected override get trainedLookups(): readonly (FeatureColumn | Tensor)[] {
    return this.#layouts?.flattenedLayout() ?? super.trainedLookups;
  }

  /** The name that a layout of these features has. */
  static layoutName(sliceName: string, features: FeaturesGiven): string {
    return `${sliceName}_${createHash('md5').update(layoutText(features)).digest('hex')}`;
  }

  /**
   * An input whose features have other slots: `shareMeta` says for each whether its ids are changed in place, or
   * become those of a further feature `<name>_<suffix>`, and which slot they get.
   */
  shareSlot(input: TaskInput, shareMeta: ShareMeta, suffix = 'share'): TaskInput {
    return sharedInput(input, shareMeta, suffix, (name, slot) => this.names.register(name, slot));
  }

  /** Which slots features are in. */
  protected get names(): SlotNames {
    if (this.#names !== undefined) return this.#names;
    const { feature_list: file } = this.p;
    this.#names = new SlotNames(file === null ? undefined : parseFeatureList(readFileSync(file, 'utf8'), file));
    return this.#names;
  }

  #slotOf(name: string, config: { readonly occurrenceThreshold: number; readonly expireTime: number }): FeatureSlot {
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    const slot = this.ctx.createFeatureSlot({ name, hasBias: false, slotId: this.names.slotOf(name), ...config });
    this.#slots.set(name, slot);
    return slot;
  }

  #sharedSlot(
    name: string,
    shared: string,
    config: { readonly occurrenceThreshold: number; readonly expireTime: number },
  ) {
    const known = this.#slots.get(shared) ?? this.columns.get(shared)?.slot;
    if (known !== undefined) return known;
    try {
      return this.#slotOf(shared, config);
    } catch (cause) {
      const reason = `${name} shared embedding with ${shared}, so ${shared} should create first!`;
      throw new MonolithError('ML_TASK', { reason }, { cause });
    }
  }

  #columnOf(feature: FeatureGiven): FeatureColumn {
    return feature instanceof FeatureColumn ? feature : this.createEmbeddingFeatureColumn(feature);
  }

  #sliceOf(feature: FeatureGiven, sliceName: string, dim: number, options: EmbeddingSliceOptions): FeatureSlice {
    const { slot } = this.#columnOf(feature);
    const key = `${slot.name}\n${sliceName}`;
    const { initializer, optimizer, compressor, learningRateFn: learningRate } = options;
    const slice =
      this.#slices.get(key) ??
      slot.addFeatureSlice(dim, {
        ...(initializer && { initializer }),
        ...(optimizer && { optimizer }),
        ...(compressor && { compressor }),
        ...(learningRate !== undefined && { learningRate }),
      });
    this.#slices.set(key, slice);
    return slice;
  }

  /** Groups of features with the width of their slices; a feature by itself is a group of one. */
  #parts(features: FeaturesGiven, sliceDim: number | null): readonly (readonly (readonly [FeatureGiven, number])[])[] {
    if (sliceDim === null) return pairsOf(features).map((pair) => [pair]);
    if (!Array.isArray(features)) throw valueError();
    const list = features as readonly unknown[];
    if (list.every(isFeature)) return list.map((feature) => [[feature, sliceDim]]);
    const isGroup = (item: unknown) => Array.isArray(item) && item.length > 0 && item.every(isFeature);
    if (!list.every(isGroup)) throw valueError();
    if (isFusedLayout()) throw new MonolithError('ML_TASK', { reason: 'group pool is not support when fused_layout' });
    return (list as readonly (readonly FeatureGiven[])[]).map((group) => group.map((feature) => [feature, sliceDim]));
  }
}

function combinerOf(given: Combiner | CombinerName | null, maxSeqLength: number): Combiner {
  if (given === null) return maxSeqLength > 0 ? new FirstN(maxSeqLength) : new ReduceSum();
  switch (given) {
    case 'reduce_sum':
      return new ReduceSum();
    case 'reduce_mean':
      return new ReduceMean();
    case 'first_n':
      return new FirstN(maxSeqLength);
    default:
      if (typeof given === 'object') return given;
      throw new MonolithError('ML_TASK', {
        reason: `combiner ${String(given)} is none of reduce_sum, reduce_mean, first_n`,
      });
  }
}
