/**
 * @file Writes a TensorBoard event file: records of events, the version first.
 *
 * Events gather in memory and go to the file ten at a time, after two minutes, on `flush` and on `close`. Metadata of a
 * tag is written with its first value only: readers remember it.
 */

import { hostname } from 'node:os';
import { join } from 'node:path';
import { checkOptions } from '../base/check-options.js';
import { type Clock, systemClock } from '../base/clock.js';
import { MonolithError, messageOf } from '../base/errors.js';
import { type FileSystem, nodeFileSystem, type WritableFile } from '../base/files/file-system.js';
import { EVENT, type Event, FILE_VERSION, SESSION_STATUS, type SummaryValue } from '../io/event-messages.js';
import { RecordWriter } from '../io/record-writer.js';

export interface EventFileOptions {
  readonly clock?: Clock;
  /** What follows the host's name in the file's name. Default: nothing. */
  readonly suffix?: string;
  /** Default: 120. */
  readonly flushSecs?: number;
  /** Events that wait at most. Default: 10. */
  readonly maxQueue?: number;
  /** Host in the file's name. Default: this machine's. */
  readonly host?: string;
  readonly fileSystem?: FileSystem;
}

const FLUSH_SECS = 120;
const MAX_QUEUE = 10;
/** Names tried when another writer began in the same second. */
const NAMES_MAX = 100;

/**
 * Writes an event file for TensorBoard.
 *
 * ```ts
 * const writer = await EventFileWriter.open('runs/mine');
 * await writer.addSummary([{ tag: 'loss', simpleValue: 0.5 }], 1);
 * await writer.close();
 * ```
 */
export class EventFileWriter {
  readonly path: string;
  readonly #file: WritableFile;
  readonly #records: RecordWriter;
  readonly #clock: Clock;
  readonly #flushMs: number;
  readonly #maxQueue: number;
  readonly #described = new Set<string>();
  #waiting = 0;
  #flushedMs: number;
  #closed = false;

  private constructor(path: string, file: WritableFile, options: EventFileOptions) {
    this.path = path;
    this.#file = file;
    this.#records = new RecordWriter({ write: (bytes) => file.write(bytes) }, 1 << 16);
    this.#clock = options.clock ?? systemClock;
    this.#flushMs = (options.flushSecs ?? FLUSH_SECS) * 1000;
    this.#maxQueue = options.maxQueue ?? MAX_QUEUE;
    this.#flushedMs = this.#clock.now();
  }

  /** Begins a file of its own in `dir`, which is made where it is missing. */
  static async open(dir: string, options: EventFileOptions = {}): Promise<EventFileWriter> {
    const known = ['clock', 'suffix', 'flushSecs', 'maxQueue', 'host', 'fileSystem'] as const;
    const { clock = systemClock, fileSystem = nodeFileSystem } = checkOptions('EventFileWriter', options, known);
    const wallTime = Math.floor(clock.now() / 1000);
    try {
      await fileSystem.makeDirectory(dir);
      const { path, file } = await create(fileSystem, join(dir, nameOf(wallTime, options)));
      const writer = new EventFileWriter(path, file, options);
      writer.#records.add(EVENT.encode({ wallTime, fileVersion: FILE_VERSION }));
      await writer.flush();
      return writer;
    } catch (cause) {
      throw failure(dir, cause);
    }
  }

  /** Values of a step. */
  async addSummary(value: readonly SummaryValue[], step: number): Promise<void> {
    if (value.length > 0) await this.#add({ step: BigInt(step), summary: { value: value.map((v) => this.#once(v)) } });
  }

  /** Readers forget points from `step` on: a run that goes on from a checkpoint trains those steps again. */
  async addRestart(step: number): Promise<void> {
    await this.#add({ step: BigInt(step), sessionLog: { status: SESSION_STATUS.START, checkpointPath: '', msg: '' } });
  }

  async addCheckpoint(checkpointPath: string, step: number): Promise<void> {
    const sessionLog = { status: SESSION_STATUS.CHECKPOINT, checkpointPath, msg: '' };
    await this.#add({ step: BigInt(step), sessionLog });
  }

  async flush(): Promise<void> {
    this.#waiting = 0;
    this.#flushedMs = this.#clock.now();
    try {
      await this.#records.flush();
    } catch (cause) {
      throw failure(this.path, cause);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.flush();
    } finally {
      await this.#file.close();
    }
  }

  async #add(event: Partial<Event>): Promise<void> {
    if (this.#closed) throw new MonolithError('ML_CLOSED', { what: 'the event file' });
    this.#records.add(EVENT.encode({ wallTime: this.#clock.now() / 1000, ...event }));
    this.#waiting++;
    if (this.#waiting >= this.#maxQueue || this.#clock.now() - this.#flushedMs >= this.#flushMs) await this.flush();
  }

  /** The value without its metadata, where the tag has had one in this file. */
  #once(value: SummaryValue): SummaryValue {
    if (value.metadata === undefined) return value;
    if (!this.#described.has(value.tag)) {
      this.#described.add(value.tag);
      return value;
    }
    const { metadata, ...rest } = value;
    return rest;
  }
}

function nameOf(seconds: number, { host = hostname(), suffix = '' }: EventFileOptions): string {
  return `events.out.tfevents.${String(seconds).padStart(10, '0')}.${host}${suffix}`;
}

async function create(fs: FileSystem, path: string): Promise<{ readonly path: string; readonly file: WritableFile }> {
  for (let n = 0; ; n++) {
    const name = n === 0 ? path : `${path}.${n}`;
    try {
      return { path: name, file: await fs.create(name) };
    } catch (cause) {
      const taken = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST';
      if (!taken || n === NAMES_MAX) throw cause;
    }
  }
}

function failure(file: string, cause: unknown): MonolithError {
  if (cause instanceof MonolithError) return cause;
  const hint = 'name a folder that can be written, on a disk with free space';
  return new MonolithError('ML_OUTPUT', { file, reason: messageOf(cause) }, { hint, cause });
}
