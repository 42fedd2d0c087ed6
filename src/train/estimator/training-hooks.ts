/** @file The hooks of a call of train: progress, summaries, evaluations, throughput, and those that were given. */
import type { Session } from '../../runtime/session/session.js';
import { EarlyStopping } from '../hooks/early-stopping.js';
import { EvaluationHook, type EvaluationReport } from '../hooks/evaluation.js';
import type { TrainHook } from '../hooks/hook.js';
import { ProgressHook } from '../hooks/progress.js';
import type { SummarySaverHook } from '../hooks/summary-saver.js';
import { ThroughputMetricHook } from '../hooks/throughput.js';
import type { ModelSpec } from '../model-spec.js';
import { summaryHook } from '../summary-hook.js';
import { BestSoFar } from './best-so-far.js';
import type { EstimatorEvent } from './estimator-event.js';
import { type EstimatorOptions, type HooksGiven, summaryStepsOf } from './estimator-options.js';
import { HeldOut } from './held-out.js';
import { prefixedMetrics } from './prefixed-metrics.js';
import type { CheckedTrainOptions } from './train-options.js';

export interface TrainingHooks {
  readonly progress: ProgressHook;
  readonly evaluation: EvaluationHook | null;
  readonly best: BestSoFar | null;
  /** Whether evaluations that got no better stopped the training. */
  stoppedEarly: boolean;
  /** All of them, in their order. */
  readonly all: readonly TrainHook[];
}

export interface HooksContext {
  readonly options: EstimatorOptions;
  readonly call: CheckedTrainOptions;
  readonly model: ModelSpec;
  readonly modelDir: string;
  readonly batchSize: number;
  /** Steps of a pass, once the data is open and its length is known. */
  readonly stepsPerPass: () => number | undefined;
  /** The step at which this reading of the data began, maybe in a run before this one. */
  readonly firstStep: () => number;
  readonly tell: (event: EstimatorEvent) => void;
}

/** Default of `stopEarly`. */
const PATIENCE = 2;

export function hooksOf(context: HooksContext): TrainingHooks {
  const { options, call, model, batchSize, tell } = context;
  let latest: EvaluationReport | null = null;
  const progress = new ProgressHook({
    loss: model.loss,
    batchSize,
    ...(call.progressIntervalMs !== undefined && { everyMs: call.progressIntervalMs }),
    onProgress: (told) => {
      tell({ event: 'progress', ...told });
      call.onProgress?.({ ...told, auc: latest?.auc ?? null, evaluation: latest });
    },
  });
  const stopping = { early: false };
  const summaries = summariesOf(context);
  const evaluating = evaluationOf(context, stopping, summaries, (report) => {
    latest = report;
    tell({ event: 'eval', ...report });
  });
  const throughput = options.metrics && [
    new ThroughputMetricHook({
      modelName: model.name,
      batchSize,
      client: prefixedMetrics(model.name, options.metrics),
    }),
  ];
  const given = [options.hooks, call.hooks].flatMap((hooks) => givenHooks(hooks, model));
  return {
    progress,
    evaluation: evaluating?.hook ?? null,
    best: evaluating?.best ?? null,
    get stoppedEarly() {
      return stopping.early;
    },
    all: [progress, ...summaries, ...(evaluating?.all ?? []), ...(throughput ?? []), ...given],
  };
}

function summariesOf({ options, model, modelDir, batchSize }: HooksContext): SummarySaverHook[] {
  const everySteps = summaryStepsOf(options);
  if (everySteps === 0) return [];
  const { summariseGradients: each = false, clock } = options;
  return [summaryHook(model, { dir: modelDir, everySteps, batchSize, each, ...(clock && { clock }) })];
}

function evaluationOf(
  { call: { evaluate, asks }, model, modelDir, batchSize, stepsPerPass, firstStep, tell }: HooksContext,
  stopping: { early: boolean },
  summaries: readonly SummarySaverHook[],
  onEvaluated: (report: EvaluationReport) => void,
) {
  if (evaluate === undefined) return undefined;
  const { data, everySteps, atStart, metrics, groupBy, stopEarly, listeners = [], keepBest = true } = evaluate;
  const { patience = PATIENCE, metric = usualMetric(model), ...better } = stopEarly ?? {};
  const best = new BestSoFar({
    ...better,
    metric,
    modelDir,
    keep: keepBest,
    onBest: ({ step, ...report }) => {
      const values: Readonly<Record<string, unknown>> = { auc: report.auc, loss: report.loss, ...report.metrics };
      tell({ event: 'best', step, metric, value: values[metric] as number });
    },
  });
  const onStop = () => {
    stopping.early = true;
  };
  const early = stopEarly && [new EarlyStopping({ ...better, metric, patience, onStop })];
  let heldOut: HeldOut | undefined;
  const hook = new EvaluationHook({
    model,
    batches: (session: Session) => {
      const held = new HeldOut(data, session, batchSize);
      heldOut = held;
      return () => held.batches();
    },
    everySteps: () => everySteps ?? stepsPerPass() ?? Number.POSITIVE_INFINITY,
    countFrom: firstStep,
    listeners: [...summaries, ...listeners, best, ...(early ?? [])],
    onEvaluated,
    ...(asks && { asks }),
    ...(atStart !== undefined && { atStart }),
    ...(metrics && { metrics }),
    ...(groupBy !== undefined && { groupBy }),
  });
  const closer: TrainHook = { close: () => heldOut?.close() };
  return { hook, best, all: [hook, closer] };
}

/** What the best evaluation is told by: the AUC of a probability, the loss of all else. */
function usualMetric({ heads = [] }: ModelSpec): string {
  const [first] = heads;
  if (first === undefined || first.kind === 'own') return 'auc';
  if (first.kind !== 'binary') return 'loss';
  return heads.length === 1 ? 'auc' : `${first.name}_auc`;
}

function givenHooks(hooks: HooksGiven | undefined, model: ModelSpec): readonly TrainHook[] {
  return typeof hooks === 'function' ? hooks(model) : (hooks ?? []);
}
