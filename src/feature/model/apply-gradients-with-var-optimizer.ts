/**
 * @file The train op of a model in one call: gradients of the loss, clipping, weight decay, steps of variables and
 * rows, and the global step. Mirrors apply_gradients_with_var_optimizer of native_training's feature_utils.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { gradients } from '../../graph/gradients.js';
import { misfit, type Op, type Tensor } from '../../graph/graph.js';
import { scale } from '../../graph/ops/elementwise.js';
import { UPDATE_OPS } from '../../graph/ops/norms.js';
import { group, increment } from '../../graph/ops/state.js';
import type { AsyncFunctions } from '../../graph/slot-queue.js';
import { applyGradients, type VariableOptimizer } from '../../optim/apply-gradients.js';
import { trainableVariables } from '../../optim/optimizer.js';
import { getVarOptimizer } from '../../optim/var-optimizers.js';
import { applyEmbeddingGradients, type EmbeddingUpdateOptions } from '../../sparse/steps/embedding-ops.js';
import { CLIP_TYPES, type ClipOptions, clipGradients } from './clip-gradients.js';
import { FeatureColumn } from './feature-column.js';

export interface VarOptimizerOptions extends ClipOptions {
  readonly loss: Tensor;
  /** Steps the variables that have no optimizer of their own (`setVarOptimizer`). */
  readonly varOptimizer: VariableOptimizer;
  /** Columns of features, or lookups, whose tables are stepped. */
  readonly featureColumns?: readonly (FeatureColumn | Tensor)[];
  /** Default: all trainable variables of the graph. */
  readonly varList?: readonly Tensor[];
  /** Counter that grows by one after all steps. */
  readonly globalStep?: Tensor;
  /** `gradient += denseWeightDecay * variable`, after clipping. */
  readonly denseWeightDecay?: number;
  /** Divides the gradients of variables by `batchSize`, for a loss that is a sum. */
  readonly denseReduceMean?: boolean;
  readonly batchSize?: number;
  /**
   * Steps variables with the gradients of the step before, where it is asynchronous; rows and counter are stepped at
   * once.
   */
  readonly asyncFunctionMgr?: AsyncFunctions;
  /** Steps the rows of lookups, in place of their tables, which it is up to. */
  readonly applyEmbeddings?: (gradsAndLookups: readonly (readonly [Tensor, Tensor])[]) => Op;
  /** Unix seconds of each example: the latest of a batch is the time of the rows it updates, by which they expire. */
  readonly reqTime?: EmbeddingUpdateOptions['reqTime'];
  readonly name?: string;
}

/**
 * An op that takes one step of training. It holds the updates of moving averages (UPDATE_OPS) too; without any gradient
 * it does nothing. Norms are called `global_gradient_norm`, and `/dense` and `/sparse` below it: fetch them by name.
 *
 * ```ts
 * const trainOp = applyGradientsWithVarOptimizer({
 *   loss,
 *   varOptimizer: new optimizers.AdagradOptimizer({ learningRate: 0.01 }),
 *   featureColumns: [user, item],
 *   clipNorm: 1000,
 *   globalStep: globalStep(graph),
 * });
 * ```
 */
export function applyGradientsWithVarOptimizer(options: VarOptimizerOptions): Op {
  checkOptions('applyGradientsWithVarOptimizer', options, [
    'loss',
    'varOptimizer',
    'featureColumns',
    'varList',
    'asyncFunctionMgr',
    'globalStep',
    'denseWeightDecay',
    'denseReduceMean',
    'batchSize',
    'applyEmbeddings',
    'reqTime',
    'name',
    'clipType',
    'clipNorm',
    'sparseClipNorm',
    'sparseNormWarmupSteps',
  ]);
  const { loss, varOptimizer, featureColumns = [], globalStep: counter, name = 'train_op' } = options;
  const { denseWeightDecay = 0, denseReduceMean = false, batchSize = 1 } = options;
  checkNumbers(name, options);
  const { graph } = loss;
  const variables = options.varList ?? trainableVariables(loss);
  const lookups = featureColumns.map((column) =>
    column instanceof FeatureColumn ? column.getAllEmbeddingsConcat() : column,
  );
  const all = gradients([loss], [...variables, ...lookups]);
  const dense = pairsOf(all.slice(0, variables.length), variables);
  const sparse = pairsOf(all.slice(variables.length), lookups);
  if (dense.length + sparse.length === 0) return group(graph, [], { name }) as Op;

  const factor = denseReduceMean ? 1 / batchSize : 1;
  const clipped = clipGradients(
    {
      dense: dense.map(([grad]) => (factor === 1 ? grad : scale(grad, factor))),
      sparse: sparse.map(([grad]) => grad),
    },
    options,
  );
  const stepped = dense.map(([, target], i) => [clipped.dense[i]!, target] as const);
  const stepVariables = (grads: readonly Tensor[]) => {
    const pairs = stepped.map(([, target], i) => [grads[i]!, target] as const);
    return [...byOptimizer(pairs, varOptimizer)].flatMap(([optimizer, members]) =>
      applyGradients(members, optimizer, { weightDecay: denseWeightDecay }),
    );
  };
  const grads = stepped.map(([grad]) => grad);
  const { asyncFunctionMgr } = options;
  const updates = [
    ...(asyncFunctionMgr === undefined || grads.length === 0
      ? stepVariables(grads)
      : [
          asyncFunctionMgr.addAsyncFunction((...taken) => stepVariables(taken), grads, {}, undefined, 'postpush_queue'),
        ]),
    ...stepRows(
      sparse.map(([, lookup], i) => [clipped.sparse[i]!, lookup] as const),
      options,
    ),
    ...graph.getCollection(UPDATE_OPS),
  ];
  if (counter === undefined) return group(graph, updates, { name }) as Op;
  const count = graph.controlDependencies(updates, () => increment(counter, { by: 1, name: `${name}/AssignAdd` }));
  return group(graph, [...updates, count as Op], { name }) as Op;
}

function stepRows(pairs: readonly (readonly [Tensor, Tensor])[], options: VarOptimizerOptions): readonly Op[] {
  const { applyEmbeddings, reqTime } = options;
  return applyEmbeddings === undefined ? applyEmbeddingGradients(pairs, { reqTime }) : [applyEmbeddings(pairs)];
}

function checkNumbers(name: string, options: VarOptimizerOptions): void {
  const { clipType = 'ClipByGlobalNorm', clipNorm, sparseClipNorm, sparseNormWarmupSteps, batchSize = 1 } = options;
  if (!CLIP_TYPES.includes(clipType)) {
    const hint = `there are ${CLIP_TYPES.join(', ')}`;
    const reason = 'there is no such way of clipping';
    throw new MonolithError('ML_UNSUPPORTED', { what: `clipType ${String(clipType)}`, reason }, { hint });
  }
  for (const [key, value] of Object.entries({ clipNorm, sparseClipNorm, sparseNormWarmupSteps, batchSize })) {
    if (value !== undefined && !(value > 0)) throw misfit(name, `${key} ${value} must be above 0`);
  }
}

/** The gradients there are, with what they belong to. */
function pairsOf(grads: readonly (Tensor | undefined)[], targets: readonly Tensor[]): (readonly [Tensor, Tensor])[] {
  return targets.flatMap((target, i) => (grads[i] === undefined ? [] : [[grads[i], target] as const]));
}

function byOptimizer(pairs: readonly (readonly [Tensor, Tensor])[], common: VariableOptimizer) {
  const groups = new Map<VariableOptimizer, (readonly [Tensor, Tensor])[]>();
  for (const pair of pairs) {
    const optimizer = getVarOptimizer(pair[1]) ?? common;
    const members = groups.get(optimizer) ?? [];
    members.push(pair);
    groups.set(optimizer, members);
  }
  return groups;
}
