/**
 * @file What a task makes its slots with and gives its gradients to: in collect mode a factory that only notes what is
 * asked for, and then one whose lookups are those of a batch.
 */
import type { Op, Tensor } from '../../graph/graph.js';
import type { Int64PerExample } from '../../graph/typed-inputs.js';
import type { FeatureColumn } from './feature-column.js';
import type { FeatureSlot, FeatureSlotConfig, SlotOwner } from './feature-slot.js';

/** A gradient, where there is one, and the column or the lookup it is of. */
export type GradAndColumn = readonly [grad: Tensor | null | undefined, column: FeatureColumn | Tensor];

export interface EmbeddingGradientOptions {
  /** Unix seconds of each example. Default: the feature `req_time`, where the batch has one. */
  readonly reqTime?: Int64PerExample | undefined;
  /** What gradients are multiplied by. Default: 1. */
  readonly scale?: number;
}

/** How slices become one tensor. */
export type OutType = 'concat' | 'stack' | 'add_n' | 'addn';

/** A slice of a feature. */
export interface LayoutPart {
  readonly feature: string;
  readonly start: number;
  readonly end: number;
}

/** What is put together under one name; without `outType` it is a list. */
export interface EmbeddingLayout {
  readonly parts: readonly LayoutPart[];
  readonly outType: OutType | null;
}

export interface EmbeddingFactory extends SlotOwner {
  createFeatureSlot(config: FeatureSlotConfig): FeatureSlot;
  /** An op that steps the rows; it does nothing where there is no gradient. */
  applyGradients(gradsAndColumns: readonly GradAndColumn[], options?: EmbeddingGradientOptions): Op;
  /** Told of each layout that is declared. */
  onLayout?(name: string, layout: EmbeddingLayout): void;
}
