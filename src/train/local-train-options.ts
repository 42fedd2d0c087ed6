/** @file What LocalTrainer takes, and what of it is refused before anything is opened. */
import { checkOptions } from '../base/check-options.js';
import type { Clock } from '../base/clock.js';
import { MonolithError } from '../base/errors.js';
import type { RestoreOptions } from '../checkpoint/restore-options.js';
import type { Settings } from '../checkpoint/snapshot.js';
import type { Session, SessionOptions } from '../runtime/session/session.js';
import type { CheckpointSaverOptions } from './hooks/checkpoint-saver.js';
import type { TrainHook } from './hooks/hook.js';
import type { NanTensorOptions } from './hooks/nan-tensor.js';
import type { TrainAsks } from './hooks/train-asks.js';
import type { ModelSpec } from './model-spec.js';
import type { TrainInput } from './train-input.js';

/** How a run begins: from the newest checkpoint of its model directory, and without one from another place, if told. */
export interface LocalRestoreOptions extends RestoreOptions {
  /** Prefix of a checkpoint, or a model directory, that a run begins with when its own directory has no checkpoint. */
  readonly from?: string;
  /** Base name of a checkpoint of the model directory to go on from in place of the newest one, once per directory. */
  readonly ckpt?: string | null;
  /**
   * Model directory whose checkpoint an empty one begins with and then keeps, without a copy: `restore_dir` of the
   * reference.
   */
  readonly dir?: string | null;
  /**
   * Initial values in place of all variables, once per model directory: the marker `clear_nn` says that it was done.
   * Tables are restored. What the model no longer has may be in the checkpoint.
   */
  readonly clearNN?: boolean;
  /** With `clearNN`: the global step goes on. Default: false. */
  readonly continueTraining?: boolean;
  /**
   * Variables that the checkpoint has under other names: name in it by name in the model, or true to find it out by
   * names. A checkpoint that has all names of the model is restored plainly.
   */
  readonly aliasMap?: Readonly<Record<string, string>> | true;
}

/** Options of the saver that the trainer does not give it itself. */
export type LocalSaverOptions = Omit<
  CheckpointSaverOptions,
  | 'modelDir'
  | 'modelName'
  | 'everySteps'
  | 'settings'
  | 'denseOnly'
  | 'fullSaver'
  | 'saver'
  | 'clock'
  | 'onSaved'
  | 'onSaveFailed'
>;

export interface LocalTrainOptions {
  /** The model, or what makes it: a session that is lost (ML_ABORTED) is made again from a model that is made again. */
  readonly model: ModelSpec | (() => ModelSpec) | { build(mode: 'train'): ModelSpec };
  readonly session: SessionOptions;
  /** Without it nothing is saved or restored. */
  readonly modelDir: string | null;
  /**
   * Steps to train, on top of those of a restored checkpoint; with `until` what comes first. One of the two is needed.
   */
  readonly steps?: number | null;
  /** Global step to train up to: a run that is started again does not go past it. */
  readonly until?: number | null;
  readonly saveEverySteps?: number | null;
  /** More for the saver: seconds, tide, listeners, how many are kept. */
  readonly saver?: LocalSaverOptions;
  /** Saves of variables alone in between, to `<modelDir>/dense_only`: by steps or by seconds. */
  readonly denseOnly?: Pick<
    CheckpointSaverOptions,
    'everySteps' | 'everySecs' | 'timer' | 'listeners' | 'guardListeners' | 'keep'
  >;
  /** What may differ between the model and a checkpoint it is restored from. Default: nothing. */
  readonly restore?: LocalRestoreOptions;
  /** Whether `ckpt.info-<step>` tells the rows of each slot with every save; it reads every id. Default: false. */
  readonly ckptInfo?: boolean;
  /** Whether tables are read again from each checkpoint once it is saved, without expired rows. Default: false. */
  readonly evictOnSave?: boolean;
  readonly onSaved?: CheckpointSaverOptions['onSaved'];
  readonly onSaveFailed?: CheckpointSaverOptions['onSaveFailed'];
  /** Kept with checkpoints; see `changedSettings`. */
  readonly settings?: Settings;
  /** What a loss that is not a number does. Default: it fails the run. */
  readonly nanLoss?: NanTensorOptions;
  readonly hooks?: readonly TrainHook[];
  /** Whether to look for `monolith_action` in the model directory: see QueryActionHook. Default: false. */
  readonly queryActions?: boolean;
  /** Saves also when it is asked to. */
  readonly asks?: TrainAsks;
  readonly signal?: AbortSignal;
  /** What hooks wait by. Default: the system's. */
  readonly clock?: Clock;
}

/** An input, or what makes one for a session that was made again. */
export type TrainInputOf = TrainInput | ((session: Session) => TrainInput | Promise<TrainInput>);

/** Refuses names that are no options, and numbers that are none of steps. */
export function checkTrainOptions(options: LocalTrainOptions): void {
  checkOptions('LocalTrainer.create', options, [
    'model',
    'session',
    'modelDir',
    'steps',
    'until',
    'saveEverySteps',
    'saver',
    'denseOnly',
    'restore',
    'ckptInfo',
    'evictOnSave',
    'onSaved',
    'onSaveFailed',
    'settings',
    'nanLoss',
    'hooks',
    'queryActions',
    'asks',
    'signal',
    'clock',
  ]);
  checkSteps(options);
}

/** One of `steps` and `until` is needed: a run that never ends would be a slip. */
function checkSteps({ steps, until, saveEverySteps }: LocalTrainOptions): void {
  for (const [flag, value] of Object.entries({ steps, until, saveEverySteps })) {
    if (value === undefined || value === null || value === Number.POSITIVE_INFINITY) continue;
    if (Number.isInteger(value) && value >= 0) continue;
    throw new MonolithError('ML_FLAG', { flag, reason: `${String(value)} is not a number of steps` });
  }
  if (typeof steps === 'number' || typeof until === 'number') return;
  throw new MonolithError('ML_FLAG', { flag: 'steps', reason: 'neither it nor until is given' });
}
