/** @file Tasks of the acceptance scenarios: a feature, a slot of five floats, a loss that is the looked-up value. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineSchema, type Features, ragged, type Schema } from '../../src/data/schema.js';
import { FeatureColumn } from '../../src/feature/model/feature-column.js';
import type { FeatureSlotConfig } from '../../src/feature/model/feature-slot.js';
import { gradients } from '../../src/graph/gradients.js';
import { scale } from '../../src/graph/ops/elementwise.js';
import { reduceSum } from '../../src/graph/ops/reductions.js';
import { globalStep, group, increment } from '../../src/graph/ops/state.js';
import type { Mode } from '../../src/train/task-params.js';
import {
  type InputFn,
  type ModelFn,
  type ModelRunConfig,
  type NativeSpec,
  NativeTask,
  type TaskData,
  type TaskFeatures,
} from '../../src/train/tasks/native-task.js';

/** A small session: tests need no more. */
export const SMALL = { threads: 2, memoryBytes: 64 << 20 } as const;

export function newDir(t: { teardown(body: () => void): void }, remove: (dir: string) => void): string {
  const dir = mkdtempSync(join(tmpdir(), 'monolith-acceptance-'));
  t.teardown(() => remove(dir));
  return dir;
}

/** One batch: `feature = [[0, 0]]`. The loss is minus what is looked up. */
export class FeatureTask extends NativeTask {
  static readonly schema: Schema<Features> = defineSchema({ feature: ragged.i64({ valuesPerRow: 4 }) });

  createInputFn(_mode: Mode): InputFn {
    return () => ({ schema: FeatureTask.schema, batchSize: 1, data: this.data() });
  }

  data(): TaskData {
    return { feature: [[0n, 0n]] };
  }

  slot(): FeatureSlotConfig {
    return { name: 'feature' };
  }

  createModelFn(): ModelFn {
    return (features, mode, config) => this.model(features, mode, config);
  }

  model(_features: TaskFeatures, mode: Mode, { graph }: ModelRunConfig): NativeSpec {
    const slot = this.ctx.createFeatureSlot(this.slot());
    const slice = slot.addFeatureSlice(5);
    const column = new FeatureColumn(slot, 'feature');
    const embedding = column.embeddingLookup(slice);
    const loss = scale(reduceSum(embedding), -1);
    if (mode !== 'train') return { mode, loss, predictions: embedding };
    const [grad] = gradients([loss], [column.getAllEmbeddingsConcat()]);
    const step = increment(globalStep(graph));
    const update = graph.controlDependencies([step], () => this.ctx.applyEmbeddingGradients([[grad, column]]));
    return { mode, loss, predictions: embedding, trainOp: group(graph, [step, update]) };
  }
}

/** All that an async iterable gives. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
