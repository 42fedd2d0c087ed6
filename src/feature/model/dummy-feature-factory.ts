/**
 * @file Collect mode: the model function runs once with a factory that has no tables, and what it declares is noted.
 *
 * A row is as wide as all slices of its slot together, and a task may declare a slice after it has looked up another
 * one. So its model function is called twice: the first time lookups are stand-ins of the right shape, in a graph that
 * no session runs. Mirrors DummyFeatureFactory of native_training's feature module.
 */
import { MonolithError } from '../../base/errors.js';
import { log } from '../../base/log.js';
import { didYouMean } from '../../base/suggest.js';
import { Graph, misfit, type Op, type OpDef, type Tensor, type TensorSpec } from '../../graph/graph.js';
import { group } from '../../graph/ops/state.js';
import { pooledShape } from '../../sparse/steps/pooled-shape.js';
import type { Combiner } from './combiners.js';
import type { EmbeddingFactory, EmbeddingLayout } from './embedding-factory.js';
import { poolingOf, sliceKey } from './feature-column.js';
import {
  checkSlotConfig,
  type FeatureSlice,
  FeatureSlot,
  type FeatureSlotConfig,
  type SlotColumn,
  slotNameOf,
} from './feature-slot.js';

/** In place of a lookup while slots are collected. It has no kernels: no session runs its graph. */
const EmbeddingStandIn: OpDef<TensorSpec> = { type: 'EmbeddingStandIn', infer: (_, spec) => [spec] };

/** How a task uses one of its features. */
export interface CollectedFeature {
  readonly slot: FeatureSlot;
  readonly combiner: Combiner;
}

/** What a task declared. */
export interface CollectedFeatures {
  /** By name, in the order they were made. */
  readonly slots: ReadonlyMap<string, FeatureSlot>;
  /** By the name of the feature. */
  readonly features: ReadonlyMap<string, CollectedFeature>;
  /** By name: lookups that are asked for as a whole. */
  readonly layouts: ReadonlyMap<string, EmbeddingLayout>;
}

/** Notes slots, slices and columns; looks nothing up and steps nothing. */
export class DummyFeatureFactory implements EmbeddingFactory, CollectedFeatures {
  readonly batchSize: number;
  readonly slots = new Map<string, FeatureSlot>();
  readonly features = new Map<string, CollectedFeature>();
  readonly layouts = new Map<string, EmbeddingLayout>();
  readonly #graph: Graph;
  readonly #ids: Readonly<Record<string, Tensor>>;
  readonly #standIns = new Map<string, Tensor>();

  /** `ids` are the features of the batch, by name. */
  constructor(batchSize: number, graph: Graph = new Graph(), ids: Readonly<Record<string, Tensor>> = {}) {
    this.batchSize = batchSize;
    this.#graph = graph;
    this.#ids = ids;
  }

  createFeatureSlot(config: FeatureSlotConfig): FeatureSlot {
    const name = slotNameOf(checkSlotConfig(config));
    if (this.slots.has(name)) throw misfit(name, `Duplicate names for the table. Name: ${name}`);
    if (config.slotId === undefined) log.info(`feature[${name}] slot is None. pls check feature_list.conf`);
    const slot = new FeatureSlot(this, config);
    this.slots.set(name, slot);
    return slot;
  }

  assertOpen(): void {}

  onColumn({ featureName, slot, combiner }: SlotColumn): void {
    const known = this.features.get(featureName);
    if (known === undefined) this.features.set(featureName, { slot, combiner });
    else if (known.slot !== slot) throw new MonolithError('ML_FEATURE_TABLE', { feature: featureName });
    else if (known.combiner.maxSeqLength !== combiner.maxSeqLength || !isSame(known.combiner, combiner))
      throw misfit(featureName, 'a feature has one combiner, and it was used with another one before');
  }

  onLayout(name: string, layout: EmbeddingLayout): void {
    this.layouts.set(name, layout);
  }

  embeddingOf(column: SlotColumn): Tensor {
    return this.#standIn(column, { start: 0, end: column.slot.dim });
  }

  sliceOf(column: SlotColumn, slice: FeatureSlice): Tensor {
    return this.#standIn(column, slice);
  }

  idsOf({ featureName }: SlotColumn): Tensor {
    return idsCalled(this.#ids, featureName);
  }

  applyGradients(): Op {
    return group(this.#graph, []) as Op;
  }

  /** ML_GRAPH for a slot that no slice was added to. */
  assertSlices(): void {
    const empty = [...this.slots.values()].find(({ dim }) => dim === 0);
    if (empty !== undefined) throw misfit(empty.name, `${empty.name} has no slice, pls. check!`);
  }

  #standIn(column: SlotColumn, slice: { readonly start: number; readonly end: number }): Tensor {
    const { featureName, combiner } = column;
    const key = sliceKey(featureName, slice);
    const known = this.#standIns.get(key);
    if (known !== undefined) return known;
    const shape = pooledShape(poolingOf(combiner, featureName), slice.end - slice.start);
    const made = this.#graph.add(EmbeddingStandIn, [], { dtype: 'float32', shape }, key).output;
    this.#standIns.set(key, made);
    return made;
  }
}

const isSame = (a: Combiner, b: Combiner) => Object.getPrototypeOf(a) === Object.getPrototypeOf(b);

/** The ids of a feature of the batch; ML_GRAPH with the nearest name for one it does not have. */
export function idsCalled(ids: Readonly<Record<string, Tensor>>, feature: string): Tensor {
  const found = Object.hasOwn(ids, feature) ? ids[feature] : undefined;
  if (found?.spec.dtype === 'int64') return found;
  const names = Object.entries(ids).flatMap(([name, { spec }]) => (spec.dtype === 'int64' ? [name] : []));
  const reason = found === undefined ? 'the input has no feature of this name' : 'the feature has floats and no ids';
  throw misfit(feature, reason, didYouMean(feature, names) ?? `features of ids are ${names.join(', ') || 'none'}`);
}
