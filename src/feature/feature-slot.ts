/**
 * @file How a model speaks of embeddings: slots (logical tables), slices of them, and columns (features that use a slot).
 *
 * Mirrors native_training's feature module (§11). Slots whose configs are equal share one physical table, named after
 * the md5 of their names. Slices must be declared before the first lookup, since they decide the width of the rows.
 */
import { createHash } from 'node:crypto';
import { MonolithError } from '../base/errors.js';
import type { Op, Tensor } from '../graph/graph.js';
import { columns } from '../graph/ops/math.js';
import { applyEmbeddingGradients, embeddingLookup } from '../sparse/embedding-ops.js';
import {
  adagradOptimizer,
  ftrlOptimizer,
  type InitializerConfig,
  type OptimizerConfig,
  type SegmentConfig,
  segmentKey,
  type TableConfig,
  uniformInitializer,
  zerosInitializer,
} from '../sparse/table-config.js';

export interface FeatureSlotConfig {
  readonly name: string;
  /** The first slice is then a bias of dimension 1. */
  readonly hasBias?: boolean;
  readonly biasInitializer?: InitializerConfig;
  readonly biasOptimizer?: OptimizerConfig;
  readonly defaultVecInitializer?: InitializerConfig;
  readonly defaultVecOptimizer?: OptimizerConfig;
}

/** Columns `[start, end)` of a slot's rows. */
export interface FeatureSlice {
  readonly slot: FeatureSlot;
  readonly start: number;
  readonly end: number;
}

export class FeatureSlot {
  readonly name: string;
  readonly bias: FeatureSlice | null;
  readonly #factory: FeatureFactory;
  readonly #config: FeatureSlotConfig;
  readonly #segments: SegmentConfig[] = [];

  constructor(factory: FeatureFactory, config: FeatureSlotConfig) {
    this.name = config.name;
    this.#factory = factory;
    this.#config = config;
    this.bias = config.hasBias ? this.#addBias() : null;
  }

  #addBias(): FeatureSlice {
    const { biasInitializer, biasOptimizer } = this.#config;
    return this.addFeatureSlice(1, {
      initializer: biasInitializer ?? zerosInitializer(),
      optimizer: biasOptimizer ?? ftrlOptimizer({ learningRate: 0.01, initialAccumulatorValue: 1e-6, beta: 1 }),
    });
  }

  /** Appends a slice of `dim` weights; what is not given comes from the slot's config. */
  addFeatureSlice(dim: number, options: Partial<Omit<SegmentConfig, 'dim'>> = {}): FeatureSlice {
    this.#factory.assertOpen(this.name);
    if (!Number.isInteger(dim) || dim < 1) {
      throw new MonolithError('ML_GRAPH', { op: this.name, reason: `a slice cannot have ${dim} dimensions` });
    }
    const { defaultVecInitializer, defaultVecOptimizer } = this.#config;
    const start = this.dim;
    this.#segments.push({
      dim,
      initializer: defaultVecInitializer ?? uniformInitializer(-0.05, 0.05),
      optimizer: defaultVecOptimizer ?? adagradOptimizer({ learningRate: 0.001, initialAccumulatorValue: 1 }),
      ...options,
    });
    return { slot: this, start, end: start + dim };
  }

  get dim(): number {
    return this.#segments.reduce((dim, segment) => dim + segment.dim, 0);
  }

  /** Segments with equal neighbours merged: what the table is made of. */
  get mergedSegments(): SegmentConfig[] {
    const merged: SegmentConfig[] = [];
    for (const segment of this.#segments) {
      const last = merged.at(-1);
      if (last !== undefined && segmentKey(last) === segmentKey(segment)) {
        merged[merged.length - 1] = { ...last, dim: last.dim + segment.dim };
      } else merged.push(segment);
    }
    return merged;
  }
}

export class FeatureColumn {
  readonly slot: FeatureSlot;
  readonly ids: Tensor;
  readonly #factory: FeatureFactory;
  #lookup: Tensor | undefined;

  constructor(factory: FeatureFactory, slot: FeatureSlot, ids: Tensor) {
    this.#factory = factory;
    this.slot = slot;
    this.ids = ids;
  }

  /** The pooled rows of the feature, all slices side by side: what gradients are asked for. */
  getAllEmbeddingsConcat(): Tensor {
    this.#lookup ??= embeddingLookup(this.ids, this.#factory.tableOf(this.slot));
    return this.#lookup;
  }

  embeddingLookup(slice: FeatureSlice): Tensor {
    if (slice.slot !== this.slot) {
      throw new MonolithError('ML_GRAPH', {
        op: this.ids.op.name,
        reason: 'Slice must come from the dedicated feature slot.',
      });
    }
    const all = this.getAllEmbeddingsConcat();
    if (slice.start === 0 && slice.end === this.slot.dim) return all;
    return columns(all, slice.start, slice.end, `${this.ids.op.name}:${slice.start}_${slice.end}`);
  }

  getBias(): Tensor {
    if (this.slot.bias === null)
      throw new MonolithError('ML_GRAPH', { op: this.slot.name, reason: 'the slot has no bias' });
    return this.embeddingLookup(this.slot.bias);
  }
}

export class FeatureFactory {
  readonly #slots = new Map<string, FeatureSlot>();
  #tables: ReadonlyMap<FeatureSlot, TableConfig> | undefined;

  createFeatureSlot(config: FeatureSlotConfig): FeatureSlot {
    this.assertOpen(config.name);
    if (this.#slots.has(config.name)) {
      throw new MonolithError('ML_GRAPH', {
        op: config.name,
        reason: `Duplicate names for the table. Name: ${config.name}`,
      });
    }
    const slot = new FeatureSlot(this, config);
    this.#slots.set(config.name, slot);
    return slot;
  }

  createFeatureColumn(slot: FeatureSlot, ids: Tensor): FeatureColumn {
    return new FeatureColumn(this, slot, ids);
  }

  assertOpen(name: string): void {
    if (this.#tables !== undefined) {
      throw new MonolithError('ML_GRAPH', {
        op: name,
        reason: 'slots and slices must be declared before the first lookup',
      });
    }
  }

  /** The physical table of a slot. The first call fixes all slots. */
  tableOf(slot: FeatureSlot): TableConfig {
    this.#tables ??= mergeTables([...this.#slots.values()]);
    const table = this.#tables.get(slot);
    if (table === undefined) {
      throw new MonolithError('ML_GRAPH', { op: slot.name, reason: 'the slot is of another factory' });
    }
    return table;
  }

  applyEmbeddingGradients(gradsAndColumns: readonly (readonly [Tensor, FeatureColumn])[]): Op[] {
    return applyEmbeddingGradients(gradsAndColumns.map(([grad, column]) => [grad, column.getAllEmbeddingsConcat()]));
  }
}

/** Slots with equal configs share a table. */
function mergeTables(slots: readonly FeatureSlot[]): Map<FeatureSlot, TableConfig> {
  const groups = new Map<string, FeatureSlot[]>();
  for (const slot of slots) {
    if (slot.dim === 0)
      throw new MonolithError('ML_GRAPH', { op: slot.name, reason: `${slot.name} has no slice, pls. check!` });
    const key = JSON.stringify(slot.mergedSegments.map((segment) => [segment.dim, segmentKey(segment)]));
    groups.set(key, [...(groups.get(key) ?? []), slot]);
  }
  const tables = new Map<FeatureSlot, TableConfig>();
  for (const group of groups.values()) {
    const names = group.map((slot) => slot.name).sort();
    const suffix = createHash('md5').update(names.join(',')).digest('hex');
    const table = { name: `MonolithHashTable_${suffix}`, segments: group[0]!.mergedSegments };
    for (const slot of group) tables.set(slot, table);
  }
  return tables;
}
