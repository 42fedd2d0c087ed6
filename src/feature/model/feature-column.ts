/**
 * @file A feature that uses a slot: its ids, and how the rows of an example become one. Mirrors FeatureColumn of
 * native_training's feature module.
 */
import { misfit, type Tensor } from '../../graph/graph.js';
import { sequenceMask } from '../../graph/ops/sequence.js';
import { type Ids, tensorOfIds } from '../../graph/typed-inputs.js';
import type { Pooling } from '../../sparse/steps/pooled-shape.js';
import { type Combiner, FirstN, ReduceMean, ReduceSum } from './combiners.js';
import type { FeatureSlice, FeatureSlot } from './feature-slot.js';

/** The ids of one input looked up in a slot, and how the rows of an example become one. */
export class FeatureColumn {
  readonly slot: FeatureSlot;
  readonly featureName: string;
  readonly combiner: Combiner;
  readonly #ids: Tensor | undefined;
  #sized: Tensor | undefined;

  /** `feature` is its ids, or its name where the slot's factory knows the features of a batch. */
  constructor(slot: FeatureSlot, feature: Ids | string, combiner: Combiner = new ReduceSum()) {
    this.slot = slot;
    this.#ids = typeof feature === 'string' ? undefined : tensorOfIds(feature);
    this.featureName = typeof feature === 'string' ? feature : feature.op.name;
    this.combiner = combiner;
    slot.owner.onColumn?.(this);
  }

  get ids(): Tensor {
    return this.#ids ?? this.slot.owner.idsOf(this);
  }

  /** The combined rows of the feature, all slices side by side: what gradients are asked for. */
  getAllEmbeddingsConcat(): Tensor {
    return this.slot.owner.embeddingOf(this);
  }

  /** Ids whose number per example `getSizeTensor` shows in place of the feature's own. Only with FirstN. */
  setSizeTensor(rowLengths: Ids): void {
    this.#assertPositions();
    this.#sized = tensorOfIds(rowLengths);
  }

  /** `[batch, n]`: 1 for the positions that have an id. Only with FirstN. */
  getSizeTensor(): Tensor {
    this.#assertPositions();
    return sequenceMask(this.#sized ?? this.ids, this.combiner.maxSeqLength, { name: `${this.featureName}/size` });
  }

  #assertPositions(): void {
    if (this.combiner.maxSeqLength === 0) throw misfit(this.featureName, 'only FirstN has positions');
  }

  embeddingLookup(slice: FeatureSlice): Tensor {
    if (slice.slot !== this.slot) {
      throw misfit(this.featureName, 'Slice must come from the dedicated feature slot.');
    }
    return this.slot.owner.sliceOf(this, slice);
  }

  getBias(): Tensor {
    if (this.slot.bias === null) throw misfit(this.slot.name, 'the slot has no bias');
    return this.embeddingLookup(this.slot.bias);
  }
}

/** The name of a slice of a feature: `<feature>:<start>_<end>`. */
export function sliceKey(feature: string, { start, end }: Pick<FeatureSlice, 'start' | 'end'>): string {
  return `${feature}:${start}_${end}`;
}

/** How a graph pools the rows of a feature. */
export function poolingOf(combiner: Combiner, feature: string): Pooling {
  if (combiner instanceof ReduceSum) return 'sum';
  if (combiner instanceof ReduceMean) return 'mean';
  if (combiner instanceof FirstN) return { firstN: combiner.maxSeqLength };
  throw misfit(feature, 'a graph has the combiners ReduceSum, ReduceMean and FirstN');
}
