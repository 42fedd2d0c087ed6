/** @file A model that counts how often it was trained on each id, with or without a queue before it. */
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { globalStep, group, increment, raggedPlaceholder } from '../../src/graph/ops/state.js';
import { enqueueDictsWithQueueReturn } from '../../src/queue/enqueue-dicts.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';

/** Takes 1 from the row of an id whenever it sees it. With a capacity ids come through a queue. */
export function countingModel(capacity = 0) {
  const graph = new Graph();
  const optimizer = SgdOptimizer({ learningRate: 1 });
  const config = defineTable('seen', [{ dim: 1, initializer: ZerosInitializer(), optimizer }]);
  const fed = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 });
  const [ids, queue] = enqueueDictsWithQueueReturn<Tensor>(fed, capacity);
  const pred = embeddingLookup(ids, config);
  const loss = reduceMean(pred);
  const [grad] = gradients([loss], [pred]);
  const trainOp = group(graph, [increment(globalStep(graph)), ...applyEmbeddingGradients([[grad!, pred]])]);
  return { config, queue, model: { name: 'counting', graph, label: pred, pred, loss, trainOp } };
}
