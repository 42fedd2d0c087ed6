/**
 * @file The slots and features of a task as data: written to its dump, and made of it again, so that a task which was
 * dumped has the tables of then, whatever its code declares by now.
 */
import type { Rate } from '../../base/rates/rate.js';
import { FirstN, ReduceMean, ReduceSum } from '../../feature/model/combiners.js';
import { type CollectedFeatures, DummyFeatureFactory } from '../../feature/model/dummy-feature-factory.js';
import type { EmbeddingLayout } from '../../feature/model/embedding-factory.js';
import { FeatureColumn } from '../../feature/model/feature-column.js';
import type { FeatureSlot } from '../../feature/model/feature-slot.js';
import type { SegmentOptions } from '../../sparse/config/table-config.js';

export interface DumpedSlot {
  readonly name: string;
  readonly slotId: number | null;
  readonly occurrenceThreshold: number;
  readonly expireTime: number;
  readonly slices: readonly Required<SegmentOptions>[];
}

export interface DumpedFeature {
  readonly name: string;
  readonly slot: string;
  readonly combiner: string;
  readonly maxSeqLength: number;
}

/** What a task declared, as data. */
export interface DumpedFeatures {
  readonly slots: readonly DumpedSlot[];
  readonly features: readonly DumpedFeature[];
  readonly layouts: Readonly<Record<string, EmbeddingLayout>>;
}

export function dumpedFeatures({ slots, features, layouts }: CollectedFeatures): DumpedFeatures {
  return {
    slots: [...slots.values()].map(dumpedSlot),
    features: [...features].map(([name, { slot, combiner }]) => ({
      name,
      slot: slot.name,
      combiner: combiner.constructor.name,
      maxSeqLength: combiner.maxSeqLength,
    })),
    layouts: Object.fromEntries(layouts),
  };
}

function dumpedSlot({ name, slotId, occurrenceThreshold, expireTime, slices }: FeatureSlot): DumpedSlot {
  return { name, slotId: slotId ?? null, occurrenceThreshold, expireTime, slices };
}

/** Rates that are no numbers cannot be written. */
export const ratesOf = ({ slots }: DumpedFeatures): readonly Rate[] =>
  slots.flatMap(({ slices }) => slices.map(({ learningRate }) => learningRate));

/** The slots and features of a dump, as collect mode finds them. */
export function collectedOf({ slots, features, layouts }: DumpedFeatures): CollectedFeatures {
  const factory = new DummyFeatureFactory(1);
  for (const { name, slotId, occurrenceThreshold, expireTime, slices } of slots) {
    const slot = factory.createFeatureSlot({
      name,
      ...(slotId !== null && { slotId, occurrenceThreshold, expireTime }),
    });
    for (const { dim, ...slice } of slices) slot.addFeatureSlice(dim, slice);
  }
  for (const { name, slot, combiner, maxSeqLength } of features) {
    new FeatureColumn(factory.slots.get(slot)!, name, combinerCalled(combiner, maxSeqLength));
  }
  for (const [name, layout] of Object.entries(layouts)) factory.onLayout(name, layout);
  return factory;
}

function combinerCalled(name: string, maxSeqLength: number) {
  if (name === 'FirstN') return new FirstN(maxSeqLength);
  return name === 'ReduceMean' ? new ReduceMean() : new ReduceSum();
}
