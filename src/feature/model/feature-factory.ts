/**
 * @file Makes slots and columns of one graph, and decides which slots share a table.
 *
 * Slices must be declared before the first lookup, since they decide the width of the rows. Tasks, which declare and
 * look up as they go, are run twice: see dummy-feature-factory.ts.
 */
import { checkOptions } from '../../base/check-options.js';
import { misfit, type Op, type Tensor } from '../../graph/graph.js';
import { columns } from '../../graph/ops/columns.js';
import { sliceInner } from '../../graph/ops/positions.js';
import { type Ids, tensorOfIds } from '../../graph/typed-inputs.js';
import type { TableConfig } from '../../sparse/config/table-config.js';
import {
  applyEmbeddingGradients,
  type EmbeddingUpdateOptions,
  embeddingLookup,
} from '../../sparse/steps/embedding-ops.js';
import type { Combiner } from './combiners.js';
import { FeatureColumn, poolingOf, sliceKey } from './feature-column.js';
import {
  checkSlotConfig,
  type FeatureSlice,
  FeatureSlot,
  type FeatureSlotConfig,
  type SlotColumn,
  type SlotOwner,
} from './feature-slot.js';
import { type SlotTableOptions, tablesOfSlots } from './slot-tables.js';

export type FeatureFactoryOptions = Pick<SlotTableOptions, 'filterCapacity' | 'filterSplitNum'>;

/** Makes slots and columns, and decides which slots share a table. */
export class FeatureFactory implements SlotOwner {
  readonly #options: FeatureFactoryOptions;
  readonly #slots = new Map<string, FeatureSlot>();
  readonly #lookups = new Map<SlotColumn, Tensor>();
  #tables: ReadonlyMap<FeatureSlot, TableConfig> | undefined;

  constructor(options: FeatureFactoryOptions = {}) {
    checkOptions('FeatureFactory', options, ['filterCapacity', 'filterSplitNum']);
    this.#options = options;
  }

  createFeatureSlot(config: FeatureSlotConfig): FeatureSlot {
    const slot = new FeatureSlot(this, checkSlotConfig(config));
    const { name } = slot;
    this.assertOpen(name);
    if (this.#slots.has(name)) throw misfit(name, `Duplicate names for the table. Name: ${name}`);
    this.#slots.set(name, slot);
    return slot;
  }

  /** A feature of a slot; its rows are summed unless another combiner is given. */
  createFeatureColumn(slot: FeatureSlot, ids: Ids, combiner?: Combiner): FeatureColumn {
    if (slot.owner !== this) throw misfit(ids.op.name, 'the slot is of another factory');
    return new FeatureColumn(slot, tensorOfIds(ids), combiner);
  }

  assertOpen(name: string): void {
    if (this.#tables !== undefined) {
      throw misfit(name, 'slots and slices must be declared before the first lookup');
    }
  }

  embeddingOf(column: SlotColumn): Tensor {
    const known = this.#lookups.get(column);
    if (known !== undefined) return known;
    const pooling = poolingOf(column.combiner, column.featureName);
    const lookup = embeddingLookup(column.ids, this.tableOf(column.slot), { pooling });
    this.#lookups.set(column, lookup);
    return lookup;
  }

  sliceOf(column: SlotColumn, slice: FeatureSlice): Tensor {
    return sliceOfRows(this.embeddingOf(column), column, slice, column.slot.dim);
  }

  idsOf({ featureName }: SlotColumn): Tensor {
    throw misfit(featureName, 'this factory knows no features by name: give the column its ids');
  }

  /** The physical table of a slot. The first call fixes all slots. */
  tableOf(slot: FeatureSlot): TableConfig {
    this.#tables ??= tablesOfSlots([...this.#slots.values()], this.#options);
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

/** The columns of a slice in `rows`, all `dim` columns of a feature. */
export function sliceOfRows(
  rows: Tensor,
  { featureName, combiner }: SlotColumn,
  slice: FeatureSlice,
  dim: number,
): Tensor {
  if (slice.start === 0 && slice.end === dim) return rows;
  const name = sliceKey(featureName, slice);
  if (combiner.maxSeqLength > 0) return sliceInner(rows, slice.start, slice.end, { axis: 2, name });
  return columns(rows, slice.start, slice.end, { name });
}
