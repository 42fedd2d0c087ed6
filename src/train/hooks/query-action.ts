/**
 * @file Does what a file in the model directory asks for: a save, or a stop (native_training/hooks/controller_hooks).
 *
 * `monolith_action` holds `action: TRIGGER_SAVE` or `action: STOP`. It is looked for every minute, done, answered in
 * `monolith_action_response` with `OK` or the error, and removed.
 */
import { join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { MonolithError, messageOf } from '../../base/errors.js';
import { writeFileAtomic } from '../../base/files/atomic-file.js';
import { nodeFileSystem } from '../../base/files/file-system.js';
import { fileSystemOf } from '../../base/files/file-systems.js';
import { readWhole } from '../../base/files/read-file.js';
import { LIMITS } from '../../base/limits.js';
import { log } from '../../base/log.js';
import { didYouMean } from '../../base/suggest.js';
import { parsePbtxt } from '../../io/pbtxt.js';
import type { RunContext, TrainHook } from './hook.js';

export interface QueryActionOptions {
  readonly modelDir: string;
  /** Saves at once, as `triggerSave` of CheckpointSaverHook does. */
  readonly triggerSave: (context: RunContext) => Promise<void>;
  /** Default: 60. */
  readonly querySeconds?: number;
  readonly clock?: Clock;
}

const ACTIONS = ['TRIGGER_SAVE', 'STOP'] as const;
const QUERY_SECONDS = 60;

/** Looks for a file with an action, such as to stop or to save, and does it. */
export class QueryActionHook implements TrainHook {
  readonly #options: QueryActionOptions;
  #queriedMs = Number.NEGATIVE_INFINITY;

  constructor(options: QueryActionOptions) {
    checkOptions('QueryActionHook', options, ['modelDir', 'triggerSave', 'querySeconds', 'clock']);
    this.#options = options;
  }

  poll(context: RunContext): Promise<void> | undefined {
    const { querySeconds = QUERY_SECONDS, clock = systemClock } = this.#options;
    const nowMs = clock.now();
    if (nowMs - this.#queriedMs < querySeconds * 1000) return undefined;
    this.#queriedMs = nowMs;
    return this.#query(context);
  }

  async #query(context: RunContext): Promise<void> {
    const { modelDir } = this.#options;
    const file = join(modelDir, 'monolith_action');
    const fs = fileSystemOf(file);
    if ((await fs.stat(file)) === null) return;
    const response = await this.#act(file, context);
    await writeFileAtomic(join(modelDir, 'monolith_action_response'), response);
    await fs.remove(file);
  }

  /** What to answer. A request that cannot be done does not end the run. */
  async #act(file: string, context: RunContext): Promise<string> {
    try {
      const action = await actionOf(file);
      log.info('an action was asked for', { action, step: context.globalStep });
      if (action === 'STOP') context.requestStop();
      else await this.#options.triggerSave(context);
      return 'OK';
    } catch (error) {
      log.warn('an action could not be done', { file, reason: messageOf(error) });
      return messageOf(error);
    }
  }
}

async function actionOf(file: string): Promise<(typeof ACTIONS)[number]> {
  const fields = parsePbtxt(await readText(file), file);
  const value = fields.find(({ name }) => name === 'action')?.value;
  const word = value?.kind === 'word' ? value.word : '';
  const known = ACTIONS.find((action) => action === word);
  if (known !== undefined) return known;
  const reason = word === '' ? 'it names no action' : `there is no action ${word}`;
  const hint = didYouMean(word, ACTIONS);
  throw new MonolithError('ML_PBTXT', { file, line: 1, reason }, hint === undefined ? {} : { hint });
}

async function readText(file: string): Promise<string> {
  const fs = fileSystemOf(file);
  if (fs === nodeFileSystem) return readWhole(file, 'stateBytes').toString();
  const opened = await fs.openToRead(file);
  try {
    const bytes = new Uint8Array(LIMITS.stateBytes);
    return new TextDecoder().decode(bytes.subarray(0, await opened.read(bytes, 0)));
  } finally {
    await opened.close();
  }
}
