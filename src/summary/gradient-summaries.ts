/**
 * @file Summaries of what a step does to a model: norms of its gradients, and of each variable and feature where that
 * is asked for. Mirrors what native_training's feature_utils and native_model write.
 *
 * They are found by the ops that step variables and rows, so every way of writing a step has them. Like all summaries
 * they cost nothing in steps that are not written.
 */
import type { Graph, Op, OpDef, Tensor } from '../graph/graph.js';
import { globalNorm } from '../graph/ops/clip.js';
import { constant } from '../graph/ops/state.js';
import { ApplyGradient } from '../optim/apply-gradient-op.js';
import { EmbeddingUpdate, type EmbeddingUpdateAttrs } from '../sparse/steps/embedding-ops.js';
import { histogram, SUMMARIES, scalar } from './summary-ops.js';

/** Their tag; `/dense` and `/sparse` below it are those of variables and of lookups. */
const NORM = 'global_gradient_norm';

/** What a step takes, with what it belongs to. */
type GradientOf = readonly [gradient: Tensor, target: Tensor];

/**
 * Adds `global_gradient_norm`, `/dense` and `/sparse`: of all gradients, before they are clipped by a norm of them all.
 * With `each`, the norm and the values of every variable and gradient too.
 */
export function gradientSummaries(graph: Graph, { each = false } = {}): void {
  const [dense, sparse] = [denseSteps(graph), sparseSteps(graph)];
  const ofDense = dense.map(([gradient]) => gradient);
  const ofSparse = sparse.map(([gradient]) => gradient);
  addNorm(graph, NORM, [...ofDense, ...ofSparse]);
  addNorm(graph, `${NORM}/dense`, ofDense);
  addNorm(graph, `${NORM}/sparse`, ofSparse);
  if (!each) return;
  for (const [gradient, { op }] of dense) {
    scalar(`gradient_norm/${op.name}`, globalNorm([gradient], { name: `gradient_norm/${op.name}` }));
    scalar(`trainable_variable_norm/${op.name}`, globalNorm([op.output], { name: `variable_norm/${op.name}` }));
    histogram(`gradient/${op.name}`, gradient);
    histogram(`trainable_variable/${op.name}`, op.output);
  }
  for (const [gradient, { op }] of sparse) histogram(`${op.inputs[0]!.op.name}_gradient`, gradient);
  if (dense.length === 0) return;
  const sizes = ofDense.map(({ spec }) => spec.shape.map(Number).reduce((product, size) => product * size, 1));
  histogram('dense_grad_sizes', constant(graph, sizes, { shape: [sizes.length] }));
  scalar(
    'dense_grad_total_size',
    constant(
      graph,
      sizes.reduce((sum, size) => sum + size, 0),
    ),
  );
  scalar('dense_grad_total_num', constant(graph, sizes.length));
}

/** Unless there are no gradients of the kind, or the model has a summary of the tag. */
function addNorm(graph: Graph, tag: string, gradients: readonly Tensor[]): void {
  if (gradients.length === 0 || graph.getCollection(SUMMARIES).some((summary) => summary.tag === tag)) return;
  // That of a clipped model is of the gradients before.
  const known = graph.ops.find(({ name }) => name === tag)?.outputs[0];
  scalar(tag, known ?? globalNorm(gradients, { name: tag }));
}

function denseSteps(graph: Graph): readonly GradientOf[] {
  const steps = graph.ops.filter((op) => op.def === (ApplyGradient as OpDef<unknown>));
  return steps.map(({ inputs }) => [inputs[0]!, inputs[1]!]);
}

function sparseSteps(graph: Graph): readonly GradientOf[] {
  const isUpdate = (op: Op): op is Op<EmbeddingUpdateAttrs> & Op => op.def === (EmbeddingUpdate as OpDef<never>);
  const updates = graph.ops.filter(isUpdate);
  return updates.flatMap(({ inputs, attrs }) =>
    attrs.lookups.map((lookup, index) => [inputs[index]!, lookup] as const),
  );
}
