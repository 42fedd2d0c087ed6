/**
 * @file Keeps the checkpoint of the best evaluation, in a model directory of its own.
 *
 * A directory of its own, and not a name in the one of the training: there old checkpoints make room for new ones, and
 * the best is soon an old one. It can be inspected, copied and trained on like any other. The value it won by is among
 * the settings of the checkpoint, so that a run that goes on later knows what to beat.
 */
import { checkOptions } from '../../base/check-options.js';
import { latestCheckpoint, prepareModelDir, saveCheckpoint } from '../../checkpoint/on-demand.js';
import type { SavedCheckpoint } from '../../checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../checkpoint/session-snapshot.js';
import type { Settings } from '../../checkpoint/snapshot.js';
import { Better, type BetterOptions } from './better.js';
import type { EvaluationListener, EvaluationModel, EvaluationReport } from './evaluation.js';
import type { RunContext } from './hook.js';
import { inputStateOf } from './input-state.js';

export interface KeepBestOptions extends BetterOptions {
  /** Where the best is kept: not the model directory of the training. */
  readonly dir: string;
  /** How many of the best are kept, the newest of them the best. Default: 1. */
  readonly keep?: number;
  /** Kept with it, as those of a training. */
  readonly settings?: Settings;
  readonly onBest?: (report: EvaluationReport, saved: SavedCheckpoint) => void;
}

/** Settings that say by what the checkpoint won. */
const [METRIC, VALUE] = ['best_metric', 'best_value'] as const;

/** Saves the model whenever an evaluation was the best so far. A listener of EvaluationHook. */
export class KeepBest implements EvaluationListener {
  readonly #options: KeepBestOptions;
  readonly #better: Better;
  /** Undefined before the directory was looked at. */
  #best: number | null | undefined;

  constructor(options: KeepBestOptions) {
    checkOptions('KeepBest', options, ['dir', 'metric', 'mode', 'minDelta', 'keep', 'settings', 'onBest']);
    this.#options = options;
    this.#better = new Better('KeepBest', options);
  }

  /** The value of the best so far; null before the first evaluation. */
  get best(): number | null {
    return this.#best ?? null;
  }

  async afterEvaluation(context: RunContext, report: EvaluationReport, model: EvaluationModel): Promise<void> {
    const { dir, keep = 1, settings, onBest } = this.#options;
    const value = this.#better.valueOf(report);
    if (this.#best === undefined) this.#best = await this.#bestBefore();
    if (value === null || !this.#better.isBetter(value, this.#best)) return;
    await context.drain();
    const kept = { ...settings, [METRIC]: this.#better.metric, [VALUE]: value };
    const input = await inputStateOf(context.session);
    const snapshot = { ...snapshotSession(context.session, model.name, kept), input };
    const saved = await saveCheckpoint(dir, snapshot, { keep });
    this.#best = value;
    onBest?.(report, saved);
  }

  /** What the newest checkpoint of the directory won by; nothing when that was another metric. */
  async #bestBefore(): Promise<number | null> {
    const { dir } = this.#options;
    await prepareModelDir(dir);
    const path = await latestCheckpoint(dir);
    if (path === null) return null;
    const { readManifest } = await import('../../checkpoint/verify-checkpoint.js');
    const { settings = {} } = readManifest(path);
    const value = settings[VALUE];
    return settings[METRIC] === this.#better.metric && typeof value === 'number' ? value : null;
  }
}
