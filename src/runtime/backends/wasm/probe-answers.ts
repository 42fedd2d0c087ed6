/**
 * @file What probes of the kernels said, remembered in the user's cache folder: one small file per question.
 *
 * A file that is damaged, is another's, could be written by others or answers another question is as good as none. Two
 * processes that ask at once write the same answer, each in one piece.
 */
import { createHash } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../base/errors.js';
import { makeDirectory } from '../../../base/files/make-directory.js';
import { readWhole } from '../../../base/files/read-file.js';
import { replaceFile } from '../../../base/files/replace-file.js';

/** What an answer depends on. Whatever changes is another question. */
export interface ProbeQuestion {
  /** Of the file and of the probe itself. */
  readonly format: 1;
  readonly variant: string;
  readonly v8: string;
  readonly arch: string;
  readonly cpu: string;
  /** Digest of the files that are run. */
  readonly kernels: string;
}

const OUTCOMES = ['good', 'wrong', 'died', 'hung'] as const;

export interface ProbeAnswer {
  readonly outcome: (typeof OUTCOMES)[number];
  /** More for people, in printable characters. */
  readonly detail: string;
}

const DETAIL_CHARS_MAX = 300;
const DETAIL = new RegExp(`^[\\x20-\\x7e]{0,${DETAIL_CHARS_MAX}}$`);
/** A machine that was too busy once need not be so tomorrow. */
const HUNG_LASTS_MS = 24 * 3600 * 1000;
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const WRITABLE_BY_OTHERS = 0o022;

/** Makes a detail of what somebody printed. */
export function detailOf(text: string): string {
  return text
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, DETAIL_CHARS_MAX);
}

export class ProbeAnswers {
  readonly #dir: string | null;
  readonly #now: () => number;

  constructor(dir: string | null, now: () => number = Date.now) {
    this.#dir = dir;
    this.#now = now;
  }

  /** Where the answer is, or would be. */
  fileOf(question: ProbeQuestion): string | null {
    const digest = createHash('sha256').update(JSON.stringify(question)).digest('hex');
    return this.#dir && join(this.#dir, `kernels-${digest.slice(0, 32)}.json`);
  }

  read(question: ProbeQuestion): ProbeAnswer | null {
    const file = this.fileOf(question);
    if (file === null) return null;
    try {
      const found: unknown = JSON.parse(readOwn(file));
      return isAnswerTo(question, found, this.#now()) ? { outcome: found.outcome, detail: found.detail } : null;
    } catch {
      return null; // most often there is none; whatever else is wrong with it, the question is asked again
    }
  }

  /** Why nothing can be remembered, or null. Makes the folder. */
  async refusal(): Promise<string | null> {
    if (this.#dir === null) return 'this user has no cache folder';
    try {
      await makeDirectory(this.#dir, DIRECTORY_MODE);
      accessSync(this.#dir, constants.W_OK | constants.X_OK);
      return null;
    } catch (cause) {
      return `the cache folder cannot be written (${messageOf(cause)})`;
    }
  }

  write(question: ProbeQuestion, { outcome, detail }: ProbeAnswer): void {
    const file = this.fileOf(question);
    if (file === null) return;
    const content = { question, outcome, detail, at: this.#now() };
    // A file that a power failure cut off is as good as none.
    replaceFile(file, `${JSON.stringify(content, null, 2)}\n`, { mode: FILE_MODE, forced: false });
  }
}

interface Remembered extends ProbeAnswer {
  readonly question: ProbeQuestion;
  readonly at: number;
}

function isAnswerTo(question: ProbeQuestion, found: unknown, now: number): found is Remembered {
  if (typeof found !== 'object' || found === null) return false;
  const { question: asked, outcome, detail, at } = found as Partial<Record<keyof Remembered, unknown>>;
  if (JSON.stringify(asked) !== JSON.stringify(question)) return false;
  if (!(OUTCOMES as readonly unknown[]).includes(outcome)) return false;
  if (typeof detail !== 'string' || !DETAIL.test(detail) || typeof at !== 'number') return false;
  const age = now - at;
  return outcome !== 'hung' || (age >= 0 && age < HUNG_LASTS_MS);
}

/** Text of a small plain file that belongs to this user and that nobody else can write. */
function readOwn(file: string): string {
  const { uid, mode } = statSync(file);
  // Windows has neither owners nor modes of this kind; folders of users are their own there.
  const isOwn = process.getuid === undefined || (uid === process.getuid() && !(mode & WRITABLE_BY_OTHERS));
  if (!isOwn) throw new Error('not a file of ours');
  return readWhole(file, 'probeBytes').toString('utf8');
}
