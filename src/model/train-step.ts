/**
 * @file The step of a model whose function gives a loss and no train op: gradients of all that is under the loss, dense
 * and row optimizers, and the global step.
 */
import { didYouMean } from '../base/suggest.js';
import { applyGradientsWithVarOptimizer } from '../feature/model/apply-gradients-with-var-optimizer.js';
import type { ClipOptions } from '../feature/model/clip-gradients.js';
import { neededOps } from '../graph/check-ops-dependence.js';
import { type Graph, misfit, type Op, type OpDef, type Tensor } from '../graph/graph.js';
import { StopGradient } from '../graph/ops/cast.js';
import { globalStep } from '../graph/ops/state.js';
import { trainableVariables } from '../layers/layer.js';
import type { VariableOptimizer } from '../optim/apply-gradients.js';
import { EmbeddingLookup, type EmbeddingLookupAttrs, FROZEN_TABLES, TABLES } from '../sparse/steps/embedding-defs.js';

export interface TrainStepOptions extends ClipOptions {
  /** Steps variables that have no optimizer of their own. */
  readonly optimizer: VariableOptimizer;
  /** Tables and variables, by name, that keep their values; `deep` and `deep/` are all variables below a scope. */
  readonly freeze: readonly string[];
  readonly weightDecay?: number | undefined;
  /** Unix seconds of each example, for rows that expire. */
  readonly reqTime?: Tensor | undefined;
}

/** One step of everything under the loss but what is frozen. Warns of tables that it leaves as they are. */
export function addTrainStep(loss: Tensor, options: TrainStepOptions): Op {
  const { graph } = loss;
  const { optimizer, freeze, weightDecay, reqTime, ...clip } = options;
  const lookups = graph.ops.filter(
    (op): op is Op<EmbeddingLookupAttrs> & Op => op.def === (EmbeddingLookup as OpDef<never>),
  );
  const variables = trainableVariables(graph);
  checkFreeze(graph, freeze, variables);
  const isFrozen = (name: string) =>
    freeze.some((frozen) => name === frozen || name.startsWith(`${frozen.replace(/\/$/, '')}/`));
  const reached = neededOps([loss], (op) => (op.def === (StopGradient as OpDef<never>) ? [] : op.inputs));
  const trained = lookups.filter((op) => reached.has(op) && !isFrozen(op.attrs.table.name));
  for (const { name } of graph.getCollection(TABLES)) if (isFrozen(name)) graph.addToCollection(FROZEN_TABLES, name);
  warnUntrained(graph, new Set([...trained.map(({ attrs }) => attrs.table.name)]), isFrozen);
  const stepped = variables.filter((variable) => reached.has(variable.op) && !isFrozen(variable.op.name));
  if (trained.length + stepped.length === 0) {
    const hint =
      freeze.length > 0 ? 'take something out of freeze' : 'give the logit a table or a layer: m.embed, nn.mlp';
    throw misfit(loss, 'the loss depends on no table or variable that is trained', hint);
  }
  return applyGradientsWithVarOptimizer({
    ...clip,
    loss,
    varOptimizer: optimizer,
    varList: stepped,
    featureColumns: trained.map(({ output }) => output),
    globalStep: globalStep(graph),
    ...(reqTime !== undefined && { reqTime }),
    ...(weightDecay !== undefined && { denseWeightDecay: weightDecay }),
  });
}

function checkFreeze(graph: Graph, freeze: readonly string[], variables: readonly Tensor[]): void {
  const names = [...graph.getCollection(TABLES).map(({ name }) => name), ...variables.map(({ op }) => op.name)];
  for (const frozen of freeze) {
    const scope = `${frozen.replace(/\/$/, '')}/`;
    if (names.some((name) => name === frozen || name.startsWith(scope))) continue;
    const hint = didYouMean(frozen, names) ?? `there are ${names.join(', ')}`;
    throw misfit(frozen, 'there is no table or variable of this name to freeze', hint);
  }
}

/** Tables that are looked up and that no loss reaches: mostly a slip, and never found by the numbers. */
function warnUntrained(graph: Graph, trained: ReadonlySet<string>, isFrozen: (name: string) => boolean): void {
  const left = graph
    .getCollection(TABLES)
    .map(({ name }) => name)
    .filter((name) => !trained.has(name) && !isFrozen(name));
  if (left.length === 0) return;
  const subject = left.length === 1 ? `table ${left[0]} is` : `tables ${left.join(', ')} are`;
  process.emitWarning(`${subject} looked up and trained by nothing: no loss depends on what is found`, {
    code: 'ML_TABLE_UNTRAINED',
    type: 'MonolithWarning',
    detail: 'make the loss depend on it, or name it in freeze when it is meant to stay as it is',
  });
}
