/** @file The hooks that flags of `monolith train` ask for: evaluations on the way, early stopping, a log, profiles. */
import { join } from 'node:path';
import type { Settings } from '../checkpoint/snapshot.js';
import type { Session } from '../runtime/session/session.js';
import { CsvLogHook } from '../train/hooks/csv-log.js';
import { EarlyStopping } from '../train/hooks/early-stopping.js';
import { EvaluationHook, type EvaluationListener } from '../train/hooks/evaluation.js';
import type { TrainHook } from '../train/hooks/hook.js';
import { KeepBest } from '../train/hooks/keep-best.js';
import { ProfilerHook } from '../train/hooks/profiler.js';
import type { SummarySaverHook } from '../train/hooks/summary-saver.js';
import type { ModelSpec } from '../train/model-spec.js';
import { summaryHook } from '../train/summary-hook.js';
import type { TrainEvent, TrainJobOptions } from './train-job.js';

/** Inside the model directory. */
const BEST_DIR = 'best';

interface TrainHookParts {
  readonly options: TrainJobOptions;
  readonly model: ModelSpec;
  readonly settings: Settings;
  readonly heldOutIn: (session: Session) => readonly number[];
  readonly onEvent: (event: TrainEvent) => void;
}

export interface AskedHooks {
  readonly hooks: readonly TrainHook[];
  /** The one that evaluates on the way and at the end. */
  readonly evaluation: EvaluationHook | undefined;
}

export function hooksOfFlags(parts: TrainHookParts): AskedHooks {
  const { options, model, heldOutIn: batches, onEvent } = parts;
  const csv =
    options.csv === null
      ? undefined
      : new CsvLogHook({
          file: options.csv,
          loss: model.loss,
          batchSize: options.batchSize,
          everySteps: options.csvEvery,
        });
  const summaries = summarySaver(parts);
  const hooks: TrainHook[] = [csv, summaries].filter((hook) => hook !== undefined);
  let evaluation: EvaluationHook | undefined;
  if (options.evalEvery !== null) {
    evaluation = new EvaluationHook({
      model,
      batches,
      everySteps: options.evalEvery,
      listeners: [...[csv, summaries].filter((hook) => hook !== undefined), ...listeners(parts)],
      onEvaluated: ({ step, auc, loss, examples }) => onEvent({ event: 'eval', step, auc, loss, examples }),
    });
    hooks.push(evaluation);
  }
  if (options.profile !== null) hooks.push(profiler(parts, options.profile));
  return { hooks, evaluation };
}

/** TensorBoard's points, beside the checkpoints. */
function summarySaver({ options, model }: TrainHookParts): SummarySaverHook | undefined {
  const { modelDir, summaryEvery, batchSize } = options;
  if (modelDir === null || summaryEvery === 0) return undefined;
  return summaryHook(model, { dir: modelDir, everySteps: summaryEvery, batchSize });
}

function listeners({ options, settings, onEvent }: TrainHookParts): EvaluationListener[] {
  const { metric, minDelta, earlyStop: patience, keepBest, modelDir } = options;
  const found: EvaluationListener[] = [];
  if (keepBest && modelDir !== null) {
    const best = new KeepBest({
      dir: join(modelDir, BEST_DIR),
      metric,
      minDelta,
      settings,
      onBest: ({ step }, { path }) => onEvent({ event: 'best', step, metric, value: best.best!, path }),
    });
    found.push(best);
  }
  if (patience !== null) {
    const onStop = ({ best, bestStep }: { readonly best: number; readonly bestStep: number }) => {
      const message = `stopping: ${metric} did not get better than ${best.toFixed(4)} of step ${bestStep}`;
      onEvent({ event: 'note', message });
    };
    found.push(new EarlyStopping({ metric, minDelta, patience, onStop }));
  }
  return found;
}

function profiler({ options, onEvent }: TrainHookParts, { first, end }: { first: number; end: number }): ProfilerHook {
  const { profileDir, modelDir, profileEvery, trace, model, backend, threads, batchSize } = options;
  return new ProfilerHook({
    dir: profileDir ?? modelDir ?? '.',
    startStep: first,
    endStep: end,
    ...(profileEvery !== null && { everySteps: profileEvery }),
    keepRecording: trace !== null,
    metadata: { model, backend, threads, batchSize },
    onProfile: (path, firstStep, endStep) => onEvent({ event: 'profile', firstStep, endStep, path }),
  });
}
