/**
 * @file The graph of the demo for who trains it by hand: the same model as the task, with one table for equal slots.
 */
import { Graph } from '../graph/graph.js';
import type { ModelSpec } from '../train/model-spec.js';
import { buildTaskGraph } from '../train/tasks/task-graph.js';
import { FFM_LENGTH_MAX } from './ffm-example.js';
import { FFMParams, TestFFMModel } from './ffm-task.js';

/**
 * Builds the graph, for training, evaluation and prediction in one session. `idsPerFeature` bounds the ids an example
 * has per feature.
 */
export function buildFfm(idsPerFeature = FFM_LENGTH_MAX): ModelSpec {
  class WithIds extends TestFFMModel {
    protected override get idsPerFeature(): number {
      return idsPerFeature;
    }
  }
  const graph = new Graph();
  const { features, spec } = buildTaskGraph(new WithIds(FFMParams()), graph, 'train');
  return {
    name: 'ffm',
    graph,
    label: features.label!,
    pred: graph.tensor('pred'),
    loss: spec.loss!,
    trainOp: spec.trainOp!,
  };
}
