/** @file A folder that servers follow, as a target of pushes: whole versions, and deltas between them. */
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../base/files/atomic-file.js';
import { exportNative } from '../native/export-native.js';
import { publishVersion, versionsIn } from '../versions.js';
import { DELTA_DIR, type Delta, deltasIn, FRESH_FILE, RESEND_FILE, writeDelta } from './delta-files.js';
import { type Pushed, rowsOf, type SyncTarget, type Whole } from './sync-target.js';

/** Versions that are kept: one may be being loaded while the next is written. */
const VERSIONS_KEPT = 2;
const WHOLE_EVERY = 100;

export class FolderTarget implements SyncTarget {
  readonly dir: string;
  readonly #wholeEvery: number;
  #deltas = 0;
  #isOurs = false;

  /** After so many deltas comes a whole version. */
  constructor(dir: string, wholeEvery = WHOLE_EVERY) {
    this.dir = dir;
    this.#wholeEvery = wholeEvery;
  }

  /** Whether a reader asked for a whole version, or it is time for one. */
  get asks(): boolean {
    return this.#deltas >= this.#wholeEvery || existsSync(join(this.dir, RESEND_FILE));
  }

  /** Writes all there is as a version; deltas before it are not needed any more. */
  async whole({ run, sequence, model }: Whole, signal: AbortSignal): Promise<Pushed> {
    signal.throwIfAborted();
    if (!this.#isOurs) await this.#clear();
    this.#isOurs = true;
    await publishVersion(this.dir, async (temporary) => {
      await exportNative(model, temporary);
      await writeFileAtomic(join(temporary, FRESH_FILE), `${JSON.stringify({ run, sequence })}\n`);
    });
    this.#deltas = 0;
    await rm(join(this.dir, RESEND_FILE), { force: true });
    for (const delta of deltasIn(this.dir)) if (delta.sequence <= sequence) await rm(delta.file, { force: true });
    for (const version of (await versionsIn(this.dir)).slice(0, -VERSIONS_KEPT)) {
      await rm(join(this.dir, version), { recursive: true, force: true });
    }
    return { rows: model.tables.reduce((sum, { count }) => sum + count, 0), bytes: 0 };
  }

  async push(delta: Delta, signal: AbortSignal): Promise<Pushed> {
    signal.throwIfAborted();
    const bytes = await writeDelta(this.dir, delta);
    this.#deltas++;
    return { rows: rowsOf(delta), bytes };
  }

  /** Removes deltas that a training before this one left: they are of other rows. */
  async #clear(): Promise<void> {
    await rm(join(this.dir, DELTA_DIR), { recursive: true, force: true });
    for (const name of await readdir(this.dir).catch(() => [])) {
      if (name.startsWith('temp-')) await rm(join(this.dir, name), { recursive: true, force: true });
    }
  }
}
