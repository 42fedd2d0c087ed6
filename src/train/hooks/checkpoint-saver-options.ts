/** @file What a checkpoint saver is told. */
import type { Clock } from '../../base/clock.js';
import type { MonolithError } from '../../base/errors.js';
import type { MetricsClient } from '../../base/metrics-client.js';
import type { PartialRecoverySaver } from '../../checkpoint/partial-recovery-saver.js';
import type { SavedCheckpoint } from '../../checkpoint/save-checkpoint.js';
import type { Settings } from '../../checkpoint/snapshot.js';
import type { CheckpointSaverListener } from './saver-listener.js';
import type { TideWindow } from './tide.js';
import type { SecondOrStepTimerWithTideSetting } from './tide-timer.js';

export interface CheckpointSaverOptions {
  readonly modelDir: string;
  readonly modelName: string;
  /** Steps between two saves; this or `everySecs`. Default: only the end is saved. */
  readonly everySteps?: number;
  readonly everySecs?: number;
  /** Hours of the day, in UTC, in which the interval above holds; outside of them `tideEverySecs` does. */
  readonly tide?: TideWindow;
  readonly tideEverySecs?: number;
  /** What says when to save, for who holds it back or has it save at once. Default: one of the options above. */
  readonly timer?: SecondOrStepTimerWithTideSetting;
  readonly settings?: Settings;
  /**
   * Saves variables in the layout of the reference, without a manifest; tables are for listeners then. Rotation is the
   * saver's own. Default: whole checkpoints by `saveCheckpoint`.
   */
  readonly saver?: PartialRecoverySaver;
  /** Told before and after each save, in this order; what they do before is part of it. */
  readonly listeners?: readonly CheckpointSaverListener[];
  /** Told around each save whatever becomes of it, afterwards the last first. */
  readonly guardListeners?: readonly CheckpointSaverListener[];
  /**
   * True: a save that fails is told of and no more, the last one too; false: it fails the run. Default: as the file
   * says.
   */
  readonly ignoreSaveErrors?: boolean;
  /** Default: true. */
  readonly noFirstSave?: boolean;
  /** Variables alone, without tables and filters; never at the end. Default: false. */
  readonly denseOnly?: boolean;
  /** Of a dense-only saver: the one that saves everything, whose steps it leaves out. */
  readonly fullSaver?: { readonly savedStep: number };
  /** Checkpoints to keep. Default: 5. */
  readonly keep?: number;
  /** Base names of checkpoints that are never deleted, beside those that `monolith_checkpoint` names. */
  readonly exempt?: readonly string[];
  /** One checkpoint per so many hours is kept for good. */
  readonly keepCheckpointEveryNHours?: number;
  /** What `monolith_checkpoint` says of the tables. Default: false. */
  readonly useNativeMultiHashTable?: boolean;
  /**
   * Whether it writes what only one of several processes does: descriptions of the graph, `monolith_checkpoint`.
   * Default: true.
   */
  readonly isRootNode?: boolean;
  /**
   * Describe the graph, as JSON, in `meta_graph_for_debugging.pb` and beside each checkpoint in `.meta`. Default: true.
   */
  readonly writeMetaGraph?: boolean;
  readonly metrics?: MetricsClient;
  readonly clock?: Clock;
  readonly onSaved?: (step: number, saved: SavedCheckpoint, ms: number) => void;
  /** What to do about a save that failed and is ignored. Default: a warning of the process. */
  readonly onSaveFailed?: (step: number, error: MonolithError) => void;
}

export const SAVER_OPTIONS = [
  'modelDir',
  'modelName',
  'everySteps',
  'everySecs',
  'tide',
  'tideEverySecs',
  'timer',
  'settings',
  'saver',
  'listeners',
  'guardListeners',
  'ignoreSaveErrors',
  'noFirstSave',
  'denseOnly',
  'fullSaver',
  'keep',
  'exempt',
  'keepCheckpointEveryNHours',
  'useNativeMultiHashTable',
  'isRootNode',
  'writeMetaGraph',
  'metrics',
  'clock',
  'onSaved',
  'onSaveFailed',
] as const;
