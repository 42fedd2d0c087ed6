/** @file Keeps a folder of versions fresh while a training runs: a delta every so many seconds or steps. */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { Graph } from '../../graph/graph.js';
import type { Session } from '../../runtime/session/session.js';
import { recordTouchedRows } from '../../sparse/table/session-touched.js';
import type { EstimatorModel } from '../../train/estimator/estimator-model.js';
import type { RunContext, TrainHook } from '../../train/hooks/hook.js';
import { FolderTarget } from './folder-target.js';
import { ParameterSyncClient } from './parameter-sync-client.js';
import { checkAboveZero, TOUCHED_MAX } from './parameter-sync-hook.js';

export interface DeltaHookOptions {
  /** The model that is trained. */
  readonly model: EstimatorModel;
  /** Folder of versions; `monolith serve` with `--follow` on it answers with what was learnt. */
  readonly dir: string;
  /** Seconds between two deltas. Default: 10; none where steps are given. */
  readonly everySecs?: number;
  /** Steps between two deltas. */
  readonly everySteps?: number;
  /** Deltas after which a whole version is written. Default: 100. */
  readonly wholeEvery?: number;
  /** Rows that may change between two deltas; after more a whole version is written. Default: 131072. */
  readonly touchedMax?: number;
  /** Told of each delta. */
  readonly onDelta?: (delta: { readonly sequence: number; readonly step: number; readonly bytes: number }) => void;
}

const EVERY_SECS = 10;
/** Files are written as fast as the disk lets them. */
const WRITE_MS = 600_000;
const NUMBERS = ['everySecs', 'everySteps', 'wholeEvery', 'touchedMax'] as const;

/**
 * Writes deltas into a folder that servers follow.
 *
 * ```ts
 * const fresh = new DeltaHook({ model, dir: 'export/taste', everySteps: 100 });
 * ```
 */
export class DeltaHook implements TrainHook {
  readonly #options: DeltaHookOptions;
  #client: ParameterSyncClient | undefined;
  #lastStep = 0;
  #lastMs = 0;

  constructor(options: DeltaHookOptions) {
    checkOptions('DeltaHook', options, ['model', 'dir', ...NUMBERS, 'onDelta']);
    checkAboveZero('DeltaHook', options, NUMBERS);
    this.#options = options;
  }

  begin(graph: Graph): void {
    recordTouchedRows(graph, this.#options.touchedMax ?? TOUCHED_MAX);
  }

  async afterCreateSession(session: Session): Promise<void> {
    const { model, dir, wholeEvery } = this.#options;
    this.#client = new ParameterSyncClient(session, model, () => new FolderTarget(dir, wholeEvery));
    const { statusCode, errorMessage } = await this.#push();
    // A folder that cannot be written is told before the first step; later ones come again with everything.
    if (statusCode !== 0) throw new MonolithError('ML_DIR', { dir, reason: errorMessage });
    this.#lastStep = session.globalStep;
    this.#lastMs = performance.now();
  }

  quietSteps(globalStep: number): number {
    const { everySteps } = this.#options;
    return everySteps === undefined ? Number.POSITIVE_INFINITY : Math.max(1, this.#lastStep + everySteps - globalStep);
  }

  async afterRun({ globalStep, session }: RunContext): Promise<void> {
    const { everySteps } = this.#options;
    if (everySteps !== undefined && globalStep - this.#lastStep >= everySteps) await this.#write(session);
  }

  async poll({ session }: RunContext): Promise<void> {
    const { everySteps, everySecs = everySteps === undefined ? EVERY_SECS : Number.POSITIVE_INFINITY } = this.#options;
    if (this.#client!.asked) await this.#client!.resend();
    else if (performance.now() - this.#lastMs >= everySecs * 1000) await this.#write(session);
  }

  /** What was learnt last is told too. */
  async end(session: Session): Promise<void> {
    if (session.globalStep > this.#lastStep) await this.#write(session);
  }

  async #write(session: Session): Promise<void> {
    const { bytes } = await this.#push();
    this.#lastStep = session.globalStep;
    this.#lastMs = performance.now();
    this.#options.onDelta?.({ sequence: this.#client!.sequence, step: session.globalStep, bytes });
  }

  async #push() {
    const { dir, model } = this.#options;
    const config = { modelName: model.name, targets: [dir], timeoutInMs: WRITE_MS };
    const [response] = (await this.#client!.push(config)).responses;
    return response!;
  }
}
