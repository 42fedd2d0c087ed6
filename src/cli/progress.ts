/**
 * @file Shows a training run while it goes: a bar on a terminal, lines in a file, JSON lines for programs.
 *
 * Hand-written because cli-progress, the library for this, is no longer maintained, and what is needed of it is small.
 */
import { visible, visibleLines } from '../base/visible.js';
import type { RunEvent } from '../recipe/run-event.js';
import type { CliIo } from './io.js';
import { jsonLine } from './json-line.js';
import { barLine, bytesText, counted, lossText, type Progress, plainLine } from './progress-line.js';
import { resultText } from './result-text.js';
import type { ProgressEvent, StartEvent, TrainEvent, TrainResult } from './train-job.js';

export type ProgressMode = 'bar' | 'lines' | 'json' | 'quiet' | 'json-quiet';

export const BAR_INTERVAL_MS = 100;
export const LINE_INTERVAL_MS = 2000;

/** How to show progress on this output. A terminal that cannot move its cursor gets lines. */
export function progressMode(io: Pick<CliIo, 'out' | 'env'>, flags: { json: boolean; quiet: boolean }): ProgressMode {
  if (flags.json) return flags.quiet ? 'json-quiet' : 'json';
  if (flags.quiet) return 'quiet';
  return io.out.isTTY && io.env.TERM !== 'dumb' ? 'bar' : 'lines';
}

/** NO_COLOR counts when it is set to anything but nothing (no-color.org). */
export function wantsColor(io: Pick<CliIo, 'out' | 'env'>): boolean {
  return io.out.isTTY && io.env.TERM !== 'dumb' && (io.env.NO_COLOR ?? '') === '';
}

/** An event of the demo, or of any other training. */
type Shown = TrainEvent | RunEvent;

export interface ReporterOptions {
  /** Least time between two progress lines. */
  readonly intervalMs?: number;
  /** The lines of an event but progress; null where there is nothing to say. */
  readonly textOf?: (event: Shown) => string | null;
}

export class ProgressReporter {
  readonly #textOf: (event: Shown) => string | null;
  readonly #intervalMs: number;
  readonly #io: CliIo;
  readonly #mode: ProgressMode;
  readonly #color: boolean;
  readonly #stopResize: () => void;
  #startStep = 0;
  #shownMs = Number.NEGATIVE_INFINITY;
  #latest: Reported | undefined;
  #latestShown = true;
  /** Characters of the bar on the screen; 0 when there is none. */
  #barChars = 0;

  constructor(io: CliIo, mode: ProgressMode, options: number | ReporterOptions = {}) {
    const usualMs = mode === 'bar' ? BAR_INTERVAL_MS : LINE_INTERVAL_MS;
    const { intervalMs = usualMs, textOf = (event: Shown) => eventText(event as TrainEvent) } =
      typeof options === 'number' ? ({ intervalMs: options } as ReporterOptions) : options;
    this.#io = io;
    this.#mode = mode;
    this.#textOf = textOf;
    this.#intervalMs = intervalMs;
    this.#color = wantsColor(io);
    this.#stopResize = mode === 'bar' ? io.out.onResize(() => this.#redraw()) : () => {};
  }

  /**
   * How often the job should send progress. Shorter than the interval shown: of two clocks with the same interval every
   * second event would come just too early.
   */
  get eventIntervalMs(): number {
    return this.#intervalMs / 4;
  }

  event(event: Shown): void {
    if (event.event === 'progress') {
      this.#textOf(event);
      this.#progress({ ...event, endStep: event.endStep ?? event.step });
      return;
    }
    if (event.event === 'start') this.#startStep = event.startStep;
    // What was not shown yet belongs before the end.
    if (event.event === 'trained') this.#flush();
    switch (this.#mode) {
      case 'quiet':
      case 'json-quiet':
        return;
      case 'json':
        this.#io.out.write(jsonLine({ ...event }));
        return;
      case 'bar':
      case 'lines':
        this.#line(event);
        return;
      default:
        this.#mode satisfies never;
    }
  }

  /** Prints a line for people beside the progress, on standard error. */
  note(text: string): void {
    this.#beside(() => this.#io.err.write(`${visibleLines(text)}\n`));
  }

  /** Prints the end of the run. */
  done(result: TrainResult): void {
    this.end(doneEvent(result), resultText(result));
  }

  /** Prints the end of a run: an event for programs, lines for people. */
  end(event: object, text: string): void {
    this.#flush();
    this.#endBar();
    const json = this.#mode === 'json' || this.#mode === 'json-quiet';
    this.#io.out.write(json ? jsonLine({ ...event }) : text);
  }

  /** Leaves the terminal in order, whether or not the run came to its end. May be called twice. */
  close(): void {
    this.#stopResize();
    this.#endBar();
  }

  #progress(event: Reported): void {
    this.#latest = event;
    this.#latestShown = false;
    const last = event.step >= event.endStep;
    if (last || this.#io.nowMs() - this.#shownMs >= this.#intervalMs) this.#flush();
  }

  /** Shows the newest progress if it is not shown yet. */
  #flush(): void {
    if (this.#latest === undefined || this.#latestShown) return;
    this.#latestShown = true;
    this.#shownMs = this.#io.nowMs();
    if (this.#mode === 'bar') this.#redraw();
    if (this.#mode === 'lines') this.#io.out.write(`${plainLine(this.#state(this.#latest))}\n`);
    if (this.#mode === 'json') this.#io.out.write(jsonLine(this.#latest));
  }

  #state(event: Reported): Progress {
    return { ...event, startStep: this.#startStep };
  }

  #redraw(): void {
    if (this.#latest === undefined) return;
    const state = this.#state(this.#latest);
    const columns = this.#io.out.columns();
    this.#io.out.write(this.#eraseText() + barLine(state, { columns, color: this.#color }));
    this.#barChars = barLine(state, { columns, color: false }).length;
  }

  /** Takes the bar off the screen. A terminal that got narrower has wrapped it over several rows. */
  #eraseText(): string {
    if (this.#barChars === 0) return '';
    const rowsAbove = Math.ceil(this.#barChars / Math.max(1, this.#io.out.columns())) - 1;
    return `${rowsAbove > 0 ? `\x1b[${rowsAbove}A` : ''}\r\x1b[J`;
  }

  #endBar(): void {
    if (this.#barChars > 0) this.#io.out.write('\n');
    this.#barChars = 0;
    this.#latest = undefined;
  }

  #line(event: Shown): void {
    const sink = event.event === 'warning' ? this.#io.err : this.#io.out;
    const text = this.#textOf(event);
    if (text !== null) this.#beside(() => sink.write(`${text.split('\n').map(visible).join('\n')}\n`));
  }

  #beside(print: () => void): void {
    const hadBar = this.#barChars > 0;
    if (hadBar) this.#io.out.write(this.#eraseText());
    this.#barChars = 0;
    print();
    if (hadBar) this.#redraw();
  }
}

/** Progress that says where it ends, or where it is. */
type Reported = ProgressEvent;

function eventText(event: TrainEvent): string | null {
  switch (event.event) {
    case 'start':
      return startText(event);
    case 'checkpoint':
      return `saved step ${event.step}: ${event.path} (${bytesText(event.bytes)}, ${event.ms.toFixed(0)} ms)`;
    case 'eval': {
      const auc = event.auc === null ? 'AUC undefined' : `AUC ${event.auc.toFixed(4)}`;
      return `evaluated step ${event.step}: ${auc}, loss ${lossText(event.loss)}, ${event.examples} examples`;
    }
    case 'best':
      return `best so far, ${event.metric} ${event.value.toFixed(4)}: ${event.path}`;
    case 'profile':
      return `profile of steps ${event.firstStep} to ${event.endStep - 1}: ${event.path}`;
    case 'warning':
      return `warning ${event.code}: ${event.message}`;
    case 'note':
      return `note: ${event.message}`;
    case 'progress':
      return null;
    default:
      return event satisfies never;
  }
}

function startText(event: StartEvent): string {
  const steps = `${counted(event.steps, 'step')} of ${counted(event.batchSize, 'example')}`;
  const lines = [
    `training ${event.model} on ${event.data}: ${steps}, ${counted(event.threads, 'thread')}, ${event.backend} backend`,
    `running on ${event.device}, ${event.kernels} kernels`,
  ];
  if (event.backendWhy !== null) lines.push(`auto took ${event.backend}: ${event.backendWhy}`);
  if (event.restored !== null) lines.push(`going on from step ${event.startStep}: ${event.restored}`);
  return lines.join('\n');
}

/** The last JSON line of a run. */
export function doneEvent(result: TrainResult): Record<string, unknown> {
  const { step, loss, auc, examplesPerS, stepsPerS, threads, backend, device, kernels } = result;
  const { checkpoint, trace, interrupted } = result;
  return {
    event: 'done',
    step,
    loss,
    auc,
    examplesPerS,
    stepsPerS,
    threads,
    backend,
    device,
    kernels,
    checkpoint,
    trace,
    interrupted,
  };
}
