/** @file A model with its session, its hooks and what was restored: what LocalTrainer trains, made anew when lost. */
import { join } from 'node:path';
import { systemClock } from '../base/clock.js';
import { MonolithError } from '../base/errors.js';
import { MODEL_BASE } from '../checkpoint/names.js';
import { Graph, Op } from '../graph/graph.js';
import { Session } from '../runtime/session/session.js';
import { CheckpointSaverHook } from './hooks/checkpoint-saver.js';
import { EvictionHook } from './hooks/eviction.js';
import type { TrainHook } from './hooks/hook.js';
import { setInputState } from './hooks/input-state.js';
import { NanTensorHook } from './hooks/nan-tensor.js';
import { QueryActionHook } from './hooks/query-action.js';
import type { CheckpointSaverListener } from './hooks/saver-listener.js';
import { StopAtStepHook } from './hooks/stop-at-step.js';
import { AskedSaveHook } from './hooks/train-asks.js';
import type { LocalTrainOptions } from './local-train-options.js';
import type { ModelSpec } from './model-spec.js';
import { MonitoredSession } from './monitored-session.js';
import { type Restored, restoreLatest } from './restore-latest.js';

/** A model with its session, and how they were restored. */
export interface OpenedTraining {
  readonly model: ModelSpec;
  readonly monitored: MonitoredSession;
  readonly stop: StopAtStepHook;
  readonly restored: Restored | null;
}

/** The model and its session, restored; `lastStep` is where a run that is made again stops. */
export async function openTraining(options: LocalTrainOptions, lastStep?: number): Promise<OpenedTraining> {
  const { steps, until, hooks = [], clock = systemClock } = options;
  const model = specOf(options.model);
  const stop = new StopAtStepHook({
    ...(typeof steps === 'number' && lastStep === undefined && { steps }),
    ...(typeof (lastStep ?? until) === 'number' && { maxSteps: (lastStep ?? until)! }),
  });
  let restored: Restored | null = null;
  const monitored = await MonitoredSession.create({
    graph: model.graph,
    clock,
    // The guard comes first, though the reference has it near the end: a step that went wrong must not be saved, or
    // every later run would go on from it.
    hooks: [
      new NanTensorHook(model.loss, options.nanLoss),
      new EvictionHook(),
      ...(await saverOf(options, model)),
      ...hooks,
      stop,
    ],
    createSession: async () => {
      const session = await Session.create(model.graph, options.session);
      try {
        restored = await restoreLatest(session, model, options);
        const { input } = restored ?? {};
        // A save before the input is there must not lose its position.
        setInputState(session, () => input);
        return session;
      } catch (error) {
        await session.close();
        throw error;
      }
    },
  });
  return { model, monitored, stop, restored };
}

/** The model as a graph: one of `defineModel` is built for training. */
function specOf(given: LocalTrainOptions['model']): ModelSpec {
  const model = typeof given === 'function' ? given() : 'build' in given ? given.build('train') : given;
  if (model?.graph instanceof Graph && model.trainOp instanceof Op) return model;
  const reason = 'model: it has no graph with a step to train it';
  const hint = "give a model of defineModel, or the graph of one: model.build('train')";
  throw new MonolithError('ML_OPTION', { where: 'LocalTrainer.create', option: 'model', reason }, { hint });
}

async function saverOf(options: LocalTrainOptions, { name: modelName }: ModelSpec): Promise<readonly TrainHook[]> {
  const { modelDir, saveEverySteps, settings, onSaved, onSaveFailed, queryActions, clock = systemClock } = options;
  if (modelDir === null) return [];
  const listeners = [...(options.saver?.listeners ?? []), ...(await listenersOf(options, modelDir))];
  const saver = new CheckpointSaverHook({
    ...options.saver,
    ...(listeners.length > 0 && { listeners }),
    modelDir,
    modelName,
    clock,
    ...(saveEverySteps && { everySteps: saveEverySteps }),
    ...(settings && { settings }),
    ...(onSaved && { onSaved }),
    ...(onSaveFailed && { onSaveFailed }),
  });
  const savers: TrainHook[] = [saver, ...denseSaver(options, modelName, saver)];
  if (options.asks) savers.push(new AskedSaveHook(options.asks, (context) => saver.triggerSave(context)));
  if (!queryActions) return savers;
  return [...savers, new QueryActionHook({ modelDir, clock, triggerSave: (context) => saver.triggerSave(context) })];
}

/** The first use loads the code. */
async function listenersOf(
  { ckptInfo, evictOnSave }: LocalTrainOptions,
  modelDir: string,
): Promise<CheckpointSaverListener[]> {
  const listeners: CheckpointSaverListener[] = [];
  if (ckptInfo) {
    const { FidSlotCountSaverListener } = await import('./savers/ckpt-info.js');
    listeners.push(new FidSlotCountSaverListener(modelDir));
  }
  if (evictOnSave) {
    const { HashTableRestorerSaverListener } = await import('./savers/table-restorers.js');
    listeners.push(new HashTableRestorerSaverListener(join(modelDir, MODEL_BASE)));
  }
  return listeners;
}

function denseSaver(options: LocalTrainOptions, modelName: string, fullSaver: CheckpointSaverHook) {
  const { modelDir, denseOnly, clock = systemClock } = options;
  if (modelDir === null || denseOnly === undefined) return [];
  const dir = join(modelDir, 'dense_only');
  return [new CheckpointSaverHook({ ...denseOnly, modelDir: dir, modelName, denseOnly: true, fullSaver, clock })];
}
