/**
 * @file Factories over lookups that exist already: what a task's model function is called with after its slots were
 * collected. Mirrors FeatureFactoryFromEmbeddings of native_training's feature module and CpuFeatureFactory of
 * cpu_training.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import { type Graph, misfit, type Op, type Tensor } from '../../graph/graph.js';
import { scale as scaled } from '../../graph/ops/elementwise.js';
import { group } from '../../graph/ops/state.js';
import type { TableConfig } from '../../sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../sparse/steps/embedding-ops.js';
import { type CollectedFeatures, idsCalled } from './dummy-feature-factory.js';
import type { EmbeddingFactory, EmbeddingGradientOptions, GradAndColumn } from './embedding-factory.js';
import { FeatureColumn, poolingOf, sliceKey } from './feature-column.js';
import { sliceOfRows } from './feature-factory.js';
import {
  checkSlotConfig,
  type FeatureSlice,
  FeatureSlot,
  type FeatureSlotConfig,
  type SlotColumn,
} from './feature-slot.js';
import { type SlotTableOptions, tablesOfSlots } from './slot-tables.js';

export type NamedTensors = Readonly<Record<string, Tensor>>;

/** Slots and columns whose lookups are given: rows by the feature's name, slices as `<feature>:<start>_<end>`. */
export class FeatureFactoryFromEmbeddings implements EmbeddingFactory {
  readonly #embeddings: NamedTensors;
  readonly #slices: NamedTensors;
  readonly #slots = new Set<string>();

  constructor(embeddings: NamedTensors, slices: NamedTensors) {
    this.#embeddings = embeddings;
    this.#slices = slices;
  }

  createFeatureSlot(config: FeatureSlotConfig): FeatureSlot {
    const slot = new FeatureSlot(this, checkSlotConfig(config));
    if (this.#slots.has(slot.name)) throw misfit(slot.name, `Duplicate names for the table. Name: ${slot.name}`);
    this.#slots.add(slot.name);
    return slot;
  }

  assertOpen(_slot: string): void {}

  embeddingOf({ featureName }: SlotColumn): Tensor {
    return named(this.#embeddings, featureName);
  }

  sliceOf({ featureName }: SlotColumn, slice: FeatureSlice): Tensor {
    return named(this.#slices, sliceKey(featureName, slice));
  }

  idsOf({ featureName }: SlotColumn): Tensor {
    throw misfit(featureName, 'this factory has lookups and no ids');
  }

  applyGradients(_gradsAndColumns: readonly GradAndColumn[], _options?: EmbeddingGradientOptions): Op {
    throw new MonolithError('ML_UNIMPLEMENTED', {
      what: 'FeatureFactoryFromEmbeddings.applyGradients',
      reason: 'it has lookups and no tables to step',
    });
  }
}

function named(tensors: NamedTensors, name: string): Tensor {
  const found = Object.hasOwn(tensors, name) ? tensors[name] : undefined;
  if (found !== undefined) return found;
  throw misfit(name, 'there is no lookup of this name', didYouMean(name, Object.keys(tensors)));
}

export interface CpuFeatureFactoryOptions extends SlotTableOptions {
  readonly graph: Graph;
  /** The features of the batch by name. */
  readonly features: NamedTensors;
  /** What the task declared when it was run in collect mode. */
  readonly collected: CollectedFeatures;
}

const REQUEST_TIME = 'req_time';

/** Slots and columns over tables of the session: the lookup of a feature is made when it is asked for. */
export class CpuFeatureFactory extends FeatureFactoryFromEmbeddings {
  readonly #graph: Graph;
  readonly #features: NamedTensors;
  readonly #collected: CollectedFeatures;
  readonly #tables: ReadonlyMap<FeatureSlot, TableConfig>;
  readonly #lookups = new Map<string, Tensor>();
  readonly #sliced = new Map<string, Tensor>();

  constructor(options: CpuFeatureFactoryOptions) {
    checkOptions('CpuFeatureFactory', options, [
      'graph',
      'features',
      'collected',
      'filterCapacity',
      'filterSplitNum',
      'merge',
      'filters',
    ]);
    super({}, {});
    const { graph, features, collected, ...tables } = options;
    this.#graph = graph;
    this.#features = features;
    this.#collected = collected;
    this.#tables = tablesOfSlots([...collected.slots.values()], tables);
  }

  /** The table of each slot, by its name. */
  get tables(): ReadonlyMap<string, TableConfig> {
    return new Map([...this.#tables].map(([{ name }, table]) => [name, table]));
  }

  /** Refuses a feature that was not collected with this slot. */
  onColumn({ featureName, slot: { name } }: SlotColumn): void {
    const slot = this.#collected.features.get(featureName)?.slot.name;
    if (slot === name) return;
    const found = slot === undefined ? 'no slot' : `slot ${slot}`;
    throw otherwise(featureName, `it is looked up in slot ${name}, and had ${found}`);
  }

  override embeddingOf(column: SlotColumn): Tensor {
    const { featureName, combiner } = column;
    const known = this.#lookups.get(featureName);
    if (known !== undefined) return known;
    const pooling = poolingOf(combiner, featureName);
    const lookup = embeddingLookup(column.ids, this.#tables.get(this.#collectedSlot(column))!, { pooling });
    this.#lookups.set(featureName, lookup);
    return lookup;
  }

  override sliceOf(column: SlotColumn, slice: FeatureSlice): Tensor {
    const key = sliceKey(column.featureName, slice);
    const known = this.#sliced.get(key);
    if (known !== undefined) return known;
    const { dim } = this.#collectedSlot(column);
    if (slice.end > dim) throw otherwise(column.featureName, `slice ${key} ends past the ${dim} columns its slot had`);
    const made = sliceOfRows(this.embeddingOf(column), column, slice, dim);
    this.#sliced.set(key, made);
    return made;
  }

  override idsOf({ featureName }: SlotColumn): Tensor {
    return idsCalled(this.#features, featureName);
  }

  /** Gradients that are missing are left out; those of columns and of lookups go to the tables together. */
  override applyGradients(gradsAndColumns: readonly GradAndColumn[], options: EmbeddingGradientOptions = {}): Op {
    const { reqTime = this.#requestTime(), scale = 1 } = checkOptions('applyGradients', options, ['reqTime', 'scale']);
    const pairs = gradsAndColumns.flatMap(([grad, column]) => {
      if (grad === null || grad === undefined) return [];
      const lookup = column instanceof FeatureColumn ? column.getAllEmbeddingsConcat() : column;
      return [[scale === 1 ? grad : scaled(grad, scale), lookup] as const];
    });
    return group(this.#graph, applyEmbeddingGradients(pairs, { reqTime })) as Op;
  }

  /** The time of the batch, where it has one for each example. */
  #requestTime(): Tensor | undefined {
    const time = this.#features[REQUEST_TIME];
    return time?.spec.dtype === 'int64' && !time.spec.ragged && time.columns === 1 ? time : undefined;
  }

  /** The slot as it was declared in collect mode, when it was complete. */
  #collectedSlot({ featureName }: SlotColumn): FeatureSlot {
    return this.#collected.features.get(featureName)!.slot;
  }
}

function otherwise(feature: string, reason: string) {
  const hint = 'a model function must declare the same each time it is called';
  return misfit(feature, `${reason} when the slots were collected`, hint);
}
