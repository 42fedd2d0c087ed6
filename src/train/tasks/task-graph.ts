/** @file The graph of a task in a graph of the caller's, without the hooks and the config of a training. */
import { CpuFeatureFactory } from '../../feature/model/factory-from-embeddings.js';
import type { SlotTableOptions } from '../../feature/model/slot-tables.js';
import type { Graph } from '../../graph/graph.js';
import type { Mode } from '../task-params.js';
import { withBuildContext } from './build-context.js';
import { collectFeatures } from './collect-features.js';
import { inputsOf, type NativeSpec, type NativeTask, type TaskFeatures } from './native-task.js';

export interface TaskGraph {
  readonly features: TaskFeatures;
  readonly spec: NativeSpec;
}

/** Collects the tables of a task and calls its model function over them. */
export function buildTaskGraph(task: NativeTask, graph: Graph, mode: Mode, tables: SlotTableOptions = {}): TaskGraph {
  const { collected } = collectFeatures(task);
  const features = inputsOf(task.createInputFn(mode)().schema, graph);
  task.ctx.featureFactory = new CpuFeatureFactory({ ...tables, graph, features, collected });
  const modelFn = task.createModelFn();
  const spec = withBuildContext({ graph, dryRun: false }, () => modelFn(features, mode, { graph, modelDir: null }));
  return { features, spec };
}
