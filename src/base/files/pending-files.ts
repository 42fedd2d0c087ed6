/**
 * @file A group of files and directories that take their final names together, or not at all.
 *
 * Everything is written under temporary names first, which is where disks fill up. Then come only renames; a target
 * that exists already is moved aside, and back again when a later rename fails.
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { FileSystem } from './file-system.js';
import { temporaryName } from './temporary-names.js';

interface Pending {
  readonly temporary: string;
  readonly target: string;
  /** Where the previous owner of the target's name waits. */
  readonly aside: string;
  moved: 'no' | 'aside' | 'yes';
}

export class PendingFiles {
  readonly #fs: FileSystem;
  readonly #temporaryName: (path: string) => string;
  readonly #pending: Pending[] = [];

  constructor(fs: FileSystem, name = temporaryName) {
    this.#fs = fs;
    this.#temporaryName = name;
  }

  /** Announces `target` and returns the name to write it under. Targets appear in the order of these calls. */
  add(target: string): string {
    const temporary = this.#temporaryName(target);
    this.#pending.push({ temporary, target, aside: this.#temporaryName(target), moved: 'no' });
    return temporary;
  }

  /** Gives everything its final name. After an error the caller calls `rollBack`. */
  async publish(): Promise<void> {
    for (const item of this.#pending) {
      if (existsSync(item.target)) {
        await this.#fs.rename(item.target, item.aside);
        item.moved = 'aside';
      }
      await this.#fs.rename(item.temporary, item.target);
      item.moved = 'yes';
    }
    for (const dir of this.#directories()) await this.#fs.syncDirectory(dir);
  }

  /** Removes what is pending or was published and puts back what was moved aside. */
  async rollBack(): Promise<void> {
    for (const item of [...this.#pending].reverse()) {
      if (item.moved === 'yes') await this.#fs.remove(item.target);
      if (existsSync(item.aside)) await this.#fs.rename(item.aside, item.target);
      await this.#fs.remove(item.temporary);
      item.moved = 'no';
    }
  }

  /** Drops the previous owners; only after the new files are known to be good. */
  async removeAside(): Promise<void> {
    for (const { aside } of this.#pending) if (existsSync(aside)) await this.#fs.remove(aside);
  }

  #directories(): Set<string> {
    return new Set(this.#pending.map(({ target }) => dirname(target)));
  }
}
