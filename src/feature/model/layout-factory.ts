/**
 * @file Lookups that come as layouts: what slices of which features are put together how is declared while slots are
 * collected, and made before the model function runs, which asks for a layout by its name. Gradients are of layouts,
 * and carried back to the lookups from there. Mirrors EmbeddingLayoutFactory of native_training's feature module.
 */
import { checkOptions } from '../../base/check-options.js';
import { didYouMean } from '../../base/suggest.js';
import { misfit, type Op, Tensor } from '../../graph/graph.js';
import { concatColumns } from '../../graph/ops/columns.js';
import { addN } from '../../graph/ops/elementwise.js';
import { concatInner } from '../../graph/ops/positions.js';
import { stack } from '../../graph/ops/shape.js';
import { propagateBackGradients } from '../../graph/propagate-back.js';
import { type CollectedFeatures, idsCalled } from './dummy-feature-factory.js';
import type {
  EmbeddingFactory,
  EmbeddingGradientOptions,
  EmbeddingLayout,
  GradAndColumn,
  OutType,
} from './embedding-factory.js';
import { CpuFeatureFactory, type CpuFeatureFactoryOptions } from './factory-from-embeddings.js';
import { type FeatureSlice, FeatureSlot, type FeatureSlotConfig, type SlotColumn } from './feature-slot.js';

export interface EmbeddingLayoutFactoryOptions extends CpuFeatureFactoryOptions {
  /** By name. */
  readonly layouts: ReadonlyMap<string, EmbeddingLayout>;
}

/** Slots whose lookups are layouts. */
export class EmbeddingLayoutFactory implements EmbeddingFactory {
  readonly #inner: CpuFeatureFactory;
  readonly #lookups: readonly Tensor[];
  readonly #layouts = new Map<string, Tensor | readonly Tensor[]>();

  constructor(options: EmbeddingLayoutFactoryOptions) {
    const { layouts, ...inner } = options;
    this.#inner = new CpuFeatureFactory(inner);
    const columns = new Map<string, SlotColumn>();
    const columnOf = (feature: string) => {
      const known = columns.get(feature) ?? columnCalled(feature, inner.features, inner.collected);
      columns.set(feature, known);
      return known;
    };
    for (const name of [...layouts.keys()].sort()) {
      const { parts, outType } = layouts.get(name)!;
      const slices = parts.map(({ feature, start, end }) => {
        const column = columnOf(feature);
        return this.#inner.sliceOf(column, { slot: column.slot, start, end });
      });
      this.#layouts.set(name, outType === null ? slices : joinedSlices(slices, outType));
    }
    this.#lookups = [...columns.values()].map((column) => this.#inner.embeddingOf(column));
  }

  createFeatureSlot(config: FeatureSlotConfig): FeatureSlot {
    // The inner factory refuses a name that is taken; the slot is of this one, which refuses lookups by hand.
    this.#inner.createFeatureSlot(config);
    return new FeatureSlot(this, config);
  }

  assertOpen(): void {}

  onColumn(column: SlotColumn): void {
    this.#inner.onColumn(column);
  }

  idsOf(column: SlotColumn): Tensor {
    return this.#inner.idsOf(column);
  }

  embeddingOf({ featureName }: SlotColumn): Tensor {
    throw misfit(featureName, 'with enableFusedLayout lookups come as layouts', 'lookupEmbeddingSlice gives them');
  }

  sliceOf(column: SlotColumn, _slice: FeatureSlice): Tensor {
    return this.embeddingOf(column);
  }

  /** One tensor, or the list of a layout without an `outType`. */
  getLayout(name: string): Tensor | readonly Tensor[] {
    const found = this.#layouts.get(name);
    if (found !== undefined) return found;
    const hint = didYouMean(name, [...this.#layouts.keys()]);
    throw misfit(name, 'no layout of this name was declared when the slots were collected', hint);
  }

  /** The tensors of all layouts, in the order of their names: what gradients are asked for. */
  flattenedLayout(): Tensor[] {
    return [...this.#layouts.values()].flat();
  }

  applyGradients(gradsAndLayouts: readonly GradAndColumn[], options: EmbeddingGradientOptions = {}): Op {
    checkOptions('applyGradients', options, ['reqTime', 'scale']);
    const pairs = gradsAndLayouts.flatMap(([grad, layout]) => {
      if (grad === null || grad === undefined) return [];
      if (layout instanceof Tensor) return [[grad, layout] as const];
      throw misfit(layout.featureName, 'gradients are of layouts, and this is a column of a feature');
    });
    const grads = propagateBackGradients(pairs, this.#lookups, new Set(this.flattenedLayout()));
    return this.#inner.applyGradients(
      this.#lookups.map((lookup, index) => [grads[index], lookup] as const),
      options,
    );
  }
}

function columnCalled(
  featureName: string,
  features: Readonly<Record<string, Tensor>>,
  { features: collected }: CollectedFeatures,
): SlotColumn {
  const { slot, combiner } = collected.get(featureName)!;
  return { featureName, slot, combiner, ids: idsCalled(features, featureName) };
}

/** Tensors of a slice as one: rows of floats, or sequences of them. */
export function joinedSlices(tensors: readonly Tensor[], outType: OutType): Tensor {
  const isSequence = tensors.some(({ spec }) => spec.shape.length > 2);
  switch (outType) {
    case 'concat':
      return isSequence ? concatInner(tensors, { axis: 1 }) : concatColumns(tensors);
    case 'stack':
      return stack(tensors);
    case 'add_n':
    case 'addn':
      return addN(tensors);
    default:
      outType satisfies never;
      throw misfit('layout', `outType ${String(outType)} is none of concat, stack, add_n`);
  }
}
