/**
 * @file Collect mode: a task's model function is called once to see which slots, slices and columns it declares. The
 * dry run of cpu_training.
 */
import type { Combiner } from '../../feature/model/combiners.js';
import { type CollectedFeatures, DummyFeatureFactory } from '../../feature/model/dummy-feature-factory.js';
import { slotInstance } from '../../feature/model/slot-tables.js';
import { Graph } from '../../graph/graph.js';
import type { HashTableConfigInstance } from '../../sparse/config/table-config.js';
import { AsyncFunctionMgr } from '../async-function-mgr.js';
import { withBuildContext } from './build-context.js';
import { inputsOf, type NativeTask } from './native-task.js';
import { ParserCtx, withParserCtx } from './parser-ctx.js';

/** What the tables of a task are made of. */
export interface FeatureConfigs {
  readonly collected: CollectedFeatures;
  /** What the feature's own table would be. */
  readonly featureToConfig: Readonly<Record<string, HashTableConfigInstance>>;
  /** Widths of the slices as they were declared: neighbours of one config are one segment of the table. */
  readonly featureToUnmergedSliceDims: Readonly<Record<string, readonly number[]>>;
  readonly featureToCombiner: Readonly<Record<string, Combiner>>;
  /** By slot id. */
  readonly slotToOccurrenceThreshold: ReadonlyMap<number, number>;
  readonly slotToExpireTime: ReadonlyMap<number, number>;
  /** Whether any slot has a threshold above 0. */
  readonly enableHashFilter: boolean;
}

/**
 * Calls the model function of the task for training, in a graph that is thrown away. What it does besides building
 * that graph it does twice.
 */
export function collectFeatures(task: NativeTask): FeatureConfigs {
  const graph = new Graph({ mode: 'train' });
  const { ctx } = task;
  const before = { ...ctx };
  try {
    return withBuildContext({ graph, dryRun: true }, () =>
      withParserCtx(new ParserCtx(), () => {
        const input = task.createInputFn('train')();
        const features = inputsOf(input.schema, graph);
        const factory = new DummyFeatureFactory(input.batchSize, graph, features);
        Object.assign(ctx, {
          featureFactory: factory,
          layoutFactory: null,
          asyncFunctionMgr: new AsyncFunctionMgr(false),
        });
        task.createModelFn()(features, 'train', { graph, modelDir: null });
        factory.assertSlices();
        return featureConfigs(factory);
      }),
    );
  } finally {
    Object.assign(ctx, before);
  }
}

export function featureConfigs(collected: CollectedFeatures): FeatureConfigs {
  const features = [...collected.features];
  const slots = [...collected.slots.values()].filter(({ slotId }) => slotId !== undefined);
  const thresholds = new Map(slots.map(({ slotId, occurrenceThreshold }) => [slotId!, occurrenceThreshold]));
  return {
    collected,
    featureToConfig: Object.fromEntries(features.map(([name, { slot }]) => [name, slotInstance(slot)])),
    featureToUnmergedSliceDims: Object.fromEntries(features.map(([name, { slot }]) => [name, slot.sliceDims])),
    featureToCombiner: Object.fromEntries(features.map(([name, { combiner }]) => [name, combiner])),
    slotToOccurrenceThreshold: thresholds,
    slotToExpireTime: new Map(slots.map(({ slotId, expireTime }) => [slotId!, expireTime])),
    enableHashFilter: [...thresholds.values()].some((threshold) => threshold > 0),
  };
}
