/**
 * @file The folder of a run explains itself: `events.jsonl` has all that happened, `run.json` how to get it again,
 * `schema.json` what the data was taken for. Checkpoints are beside them.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';
import { availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { MonolithError, messageOf } from '../base/errors.js';
import { readWhole } from '../base/files/read-file.js';
import { replaceFile } from '../base/files/replace-file.js';
import type { Recipe } from '../recipe/recipe.js';
import type { RunEvent, RunInfo, RunRecord } from '../recipe/run-event.js';
import { SideTable } from '../recipe/side-table.js';
import { storedRecipe } from '../recipe/stored-recipe.js';
import { EVENTS_FILE, eventLine } from './event-lines.js';

const FLUSH_MS = 1000;
export const RUN_FILE = 'run.json';
export const SCHEMA_FILE = 'schema.json';

/** An event has less: what has no end within it is no file of events, and left as it is. */
const LINE_BYTES_MAX = 1 << 20;
const NEWLINE = 0x0a;
/** Bytes of events that wait for a disk which takes none; later ones are lost. */
const WAITING_BYTES_MAX = 1 << 20;

export class RunFolder {
  readonly dir: string;
  readonly #record: RunRecord;
  readonly #file: number;
  readonly #start = performance.now();
  readonly #onTrouble: (error: MonolithError) => void;
  readonly #timer: NodeJS.Timeout;
  #waiting = Buffer.alloc(0);
  #isTold = false;

  /** The caller has the folder for itself. `onTrouble` is told once when events cannot be written. */
  constructor(dir: string, record: RunRecord, onTrouble: (error: MonolithError) => void) {
    this.dir = dir;
    this.#record = record;
    this.#onTrouble = onTrouble;
    try {
      mkdirSync(dir, { recursive: true });
      writeJson(dir, RUN_FILE, record);
      this.#file = openEvents(join(dir, EVENTS_FILE));
    } catch (cause) {
      if (cause instanceof MonolithError) throw cause;
      throw new MonolithError('ML_DIR', { dir, reason: messageOf(cause) }, { cause });
    }
    this.#timer = setInterval(() => this.flush(), FLUSH_MS);
    this.#timer.unref();
  }

  /** Keeps an event; it is on the disk within a second. What the data was goes to `run.json` too. */
  keep(event: RunEvent): void {
    if (event.event === 'data') {
      const { source, files, rows, sides } = event;
      writeJson(this.dir, RUN_FILE, { ...this.#record, data: { source, files, rows, sides } });
    }
    if (this.#waiting.length > WAITING_BYTES_MAX) return;
    const line = eventLine({ ...event, atMs: Math.round(performance.now() - this.#start) });
    this.#waiting = Buffer.concat([this.#waiting, Buffer.from(line)]);
  }

  /** Keeps what the data was taken for, and the tables beside it: enough to predict on raw rows later. */
  keepRecipe(recipe: Recipe, sides: readonly { readonly rows: readonly object[] }[] = []): void {
    writeJson(this.dir, SCHEMA_FILE, recipe);
    for (const [index, { rows }] of sides.entries()) {
      const lines = rows.map((row) => `${JSON.stringify(row, bigintsAsText)}\n`);
      writeText(this.dir, sideFile(index), lines.join(''));
    }
  }

  /** Writes what waits. A disk that takes nothing is no reason to lose a training: the rest waits for the next time. */
  flush(): void {
    try {
      while (this.#waiting.length > 0) this.#waiting = this.#waiting.subarray(writeSync(this.#file, this.#waiting));
    } catch (cause) {
      if (this.#isTold) return;
      this.#isTold = true;
      const hint = 'free some disk space; training goes on, and its events are written once there is room';
      const file = join(this.dir, EVENTS_FILE);
      this.#onTrouble(new MonolithError('ML_OUTPUT', { file, reason: messageOf(cause) }, { hint, cause }));
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.flush();
    closeSync(this.#file);
  }
}

/** The rows of a table that stands beside the data, by its place in the recipe. */
export const sideFile = (index: number): string => `side-${index + 1}.jsonl`;

/** Ids in digits are the same ids. */
const bigintsAsText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/** Opens the file to add lines. What a process that was killed left of a line is cut off: more would follow it. */
function openEvents(file: string): number {
  const fd = openSync(file, 'a+');
  const { size } = fstatSync(fd);
  const tail = Buffer.alloc(Math.min(size, LINE_BYTES_MAX));
  const read = readSync(fd, tail, 0, tail.length, size - tail.length);
  const end = size - tail.length + tail.subarray(0, read).lastIndexOf(NEWLINE) + 1;
  if (end < size && size - end < LINE_BYTES_MAX) ftruncateSync(fd, end);
  return fd;
}

function writeJson(dir: string, name: string, value: unknown): void {
  writeText(dir, name, `${JSON.stringify(value, null, 2)}\n`);
}

function writeText(dir: string, name: string, text: string): void {
  try {
    replaceFile(join(dir, name), text, { forced: true });
  } catch (cause) {
    throw new MonolithError('ML_DIR', { dir, reason: messageOf(cause) }, { cause });
  }
}

/** What is written down of a run that begins now. */
export function recordOf(info: RunInfo): RunRecord {
  const cpu = cpus()[0]?.model ?? 'unknown';
  const machine = { cpu, cores: availableParallelism(), memory: totalmem(), system: `${platform()} ${release()}` };
  return {
    started: new Date().toISOString(),
    ...info,
    node: process.version,
    machine,
    commit: commitOf(process.cwd()),
    folder: process.cwd(),
  };
}

/** The commit that is checked out in `folder`, read from its files; null where there is none. */
function commitOf(folder: string): string | null {
  try {
    const head = readFileSync(join(folder, '.git', 'HEAD'), 'utf8').trim();
    const [, ref] = /^ref: (.+)$/.exec(head) ?? [];
    if (ref === undefined) return head;
    return readFileSync(join(folder, '.git', ref), 'utf8').trim();
  } catch {
    return null; // No repository, or one whose refs are packed: a run needs neither.
  }
}

/** The tables that stand beside the data of a run, from its folder. */
export async function keptSides(dir: string, recipe: Recipe): Promise<SideTable[]> {
  return Promise.all(
    recipe.sides.map(async (plan, index) => {
      const file = join(dir, sideFile(index));
      return (await SideTable.read({ ...plan, file }, {})).called(plan);
    }),
  );
}

/** The recipe of a run's folder; null where there is none. */
export function readRecipe(dir: string): Recipe | null {
  const file = join(dir, SCHEMA_FILE);
  const found = readJson<unknown>(file);
  return found === null ? null : storedRecipe(found, file);
}

export function readRunRecord(dir: string): RunRecord | null {
  return readJson<RunRecord>(join(dir, RUN_FILE));
}

function readJson<T>(file: string): T | null {
  if (!existsSync(file)) return null;
  try {
    return JSON.parse(readWhole(file, 'recipeBytes').toString('utf8')) as T;
  } catch (cause) {
    throw new MonolithError('ML_FILE_READ', { file, reason: messageOf(cause) }, { cause });
  }
}
