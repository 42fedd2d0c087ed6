/**
 * @file Traces some steps of a training to a file: windows of the built-in trace, over and over if asked to.
 *
 * The session has to be made with `traceEvents`; between windows its rings record nothing, which costs one branch per
 * span. A window begins and ends between two groups of steps, so a group is cut at most twice per window. What it
 * recorded is copied at once and written while training goes on.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError, messageOf } from '../../base/errors.js';
import { log } from '../../base/log.js';
import type { Session } from '../../runtime/session/session.js';
import type { TraceMark, writeChromeTrace } from '../../trace/chrome-trace.js';
import type { RunContext, TrainHook } from './hook.js';

export interface ProfilerOptions {
  /** Folder for the files, `profile-<first>-<end>.json`; made when needed. */
  readonly dir: string;
  /** First step to trace. Default: 500 steps after the session's first. */
  readonly startStep?: number;
  /** The first step that is not traced any more. Default: 10 after `startStep`. */
  readonly endStep?: number;
  /** Traces as many steps again each so many steps. Default: once. */
  readonly everySteps?: number;
  /** Whether rings record between windows too, for who wants the whole trace besides. Default: false. */
  readonly keepRecording?: boolean;
  /** Told in the file. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly onProfile?: (file: string, firstStep: number, endStep: number) => void;
}

const FIRST_STEPS = 500;
const WINDOW_STEPS = 10;

interface Window {
  readonly first: number;
  readonly end: number;
}

/**
 * Traces some steps to a file.
 *
 * ```ts
 * new ProfilerHook({ dir: 'runs/profile', startStep: 100, endStep: 110, everySteps: 5000 });
 * ```
 */
export class ProfilerHook implements TrainHook {
  readonly #options: ProfilerOptions;
  #window: Window = { first: 0, end: 0 };
  /** What was recorded before the window at hand, while there is one. */
  #mark: { readonly rings: TraceMark; readonly first: number } | undefined;
  #writing: Promise<unknown> = Promise.resolve();
  /** Loaded with the session: the rings are copied at the call, which must not wait for code. */
  #write: typeof writeChromeTrace | undefined;

  constructor(options: ProfilerOptions) {
    checkOptions('ProfilerHook', options, [
      'dir',
      'startStep',
      'endStep',
      'everySteps',
      'keepRecording',
      'metadata',
      'onProfile',
    ]);
    this.#options = options;
    const { startStep, endStep, everySteps } = options;
    if (startStep !== undefined && endStep !== undefined && !(endStep > startStep)) {
      throw refused('endStep', `End step invalid, start_step: ${startStep}, end_step: ${endStep}`);
    }
    const delta = endStep === undefined ? WINDOW_STEPS : endStep - (startStep ?? 0);
    if (everySteps !== undefined && everySteps <= delta) {
      throw refused('everySteps', 'Save steps must be greater than delta steps(default: 10)');
    }
  }

  async afterCreateSession(session: Session): Promise<void> {
    if (!session.trace.on) {
      const hint = 'make the session with traceEvents, 65536 for example';
      throw new MonolithError('ML_OPTION', { where: 'ProfilerHook', reason: 'the session has no trace' }, { hint });
    }
    const { startStep: first = session.globalStep + FIRST_STEPS, endStep } = this.#options;
    this.#window = { first, end: endStep ?? first + WINDOW_STEPS };
    this.#makeFolder();
    this.#write = (await import('../../trace/chrome-trace.js')).writeChromeTrace;
    this.#record(session, false);
  }

  quietSteps(globalStep: number): number {
    const { first, end } = this.#next(globalStep + 1);
    return globalStep + 1 < first ? first - 1 - globalStep : end - 1 - globalStep;
  }

  beforeRun({ session, globalStep }: RunContext): undefined {
    const { first, end } = this.#next(globalStep + 1);
    if (this.#mark !== undefined || globalStep + 1 < first || globalStep + 1 >= end) return;
    this.#record(session, true);
    this.#mark = {
      rings: new Map(session.trace.threads.map(({ ring }) => [ring, ring.written])),
      first: globalStep + 1,
    };
  }

  afterRun({ session, globalStep }: RunContext): void {
    if (this.#mark !== undefined && globalStep + 1 >= this.#next(this.#mark.first).end)
      this.#finish(session, globalStep + 1);
  }

  /** A window that the end of training cuts off is written too. */
  async end(session: Session): Promise<void> {
    if (this.#mark !== undefined) this.#finish(session, session.globalStep + 1);
    await this.#writing;
  }

  async close(): Promise<void> {
    this.#mark = undefined;
    await this.#writing;
  }

  /** The window that `step` is in, or the next one. One that never comes begins at infinity. */
  #next(step: number): Window {
    const { first, end } = this.#window;
    if (step < end) return this.#window;
    const { everySteps } = this.#options;
    if (everySteps === undefined) return { first: Number.POSITIVE_INFINITY, end: Number.POSITIVE_INFINITY };
    const windows = Math.floor((step - end) / everySteps) + 1;
    return { first: first + windows * everySteps, end: end + windows * everySteps };
  }

  #record(session: Session, on: boolean): void {
    if (!this.#options.keepRecording) for (const { ring } of session.trace.threads) ring.on = on;
  }

  #finish(session: Session, end: number): void {
    const { rings: since, first } = this.#mark!;
    this.#mark = undefined;
    const { dir, metadata, onProfile } = this.#options;
    const { threads, names } = session.trace;
    const file = join(dir, `profile-${first}-${end}.json`);
    // The rings are copied before this call returns: they may go on, or off, at once.
    const written = this.#write!(file, { threads, names, since, ...(metadata && { metadata }) }).then(
      () => onProfile?.(file, first, end),
      // A profile that is lost is no reason to lose the training.
      (error: unknown) => log.warn('a profile could not be written', { file, reason: messageOf(error) }),
    );
    this.#record(session, false);
    this.#writing = Promise.all([this.#writing, written]);
  }

  #makeFolder(): void {
    const { dir } = this.#options;
    try {
      mkdirSync(dir, { recursive: true });
    } catch (cause) {
      const hint = 'name a folder this user can create and write';
      throw new MonolithError('ML_TRACE_WRITE', { file: dir, reason: messageOf(cause) }, { hint, cause });
    }
  }
}

function refused(option: string, reason: string): MonolithError {
  return new MonolithError('ML_OPTION', { where: 'ProfilerHook', option, reason });
}
