/**
 * @file Logs a training to a CSV file: a row each so many steps, and one for each evaluation.
 *
 * The columns are the same in every row; what a row does not know is empty. Rows are written by time, while the next
 * steps run.
 *
 * A run that goes on from a checkpoint takes the file over: rows of steps that it trains again make room for the
 * new ones.
 */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { appendFile, truncate } from 'node:fs/promises';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError, messageOf } from '../../base/errors.js';
import { readWhole } from '../../base/files/read-file.js';
import { replaceFile } from '../../base/files/replace-file.js';
import type { Tensor } from '../../graph/graph.js';
import type { MetricName } from '../../metrics/create-metric.js';
import type { FetchValue } from '../../runtime/session/fetch.js';
import type { Fetch, Session } from '../../runtime/session/session.js';
import type { EvaluationListener, EvaluationReport } from './evaluation.js';
import type { RunContext, TrainHook } from './hook.js';
import { LogTrouble } from './log-trouble.js';

export interface CsvLogOptions {
  readonly file: string;
  readonly loss: Tensor;
  readonly batchSize: number;
  /** Steps between two rows. Default: 100. */
  readonly everySteps?: number;
  /** Metrics of evaluations that get a column, besides `eval_loss` and `eval_auc`. */
  readonly metrics?: readonly MetricName[];
}

type Row = Readonly<Record<string, number | null>>;

const EVERY_STEPS = 100;
const WRITE_MS = 1000;
/** Rows that wait for a disk that takes none; they are lost beyond it. */
const WAITING_CHARS_MAX = 1 << 20;
const COLUMNS = ['step', 'seconds', 'loss', 'steps_per_s', 'examples_per_s', 'eval_loss', 'eval_auc'];

/**
 * Writes the loss and the speed of every so many steps to a CSV file. Evaluations too, as a listener of EvaluationHook.
 */
export class CsvLogHook implements TrainHook, EvaluationListener {
  readonly #options: CsvLogOptions;
  readonly #every: number;
  readonly #columns: readonly string[];
  readonly #fetches: readonly Fetch[];
  readonly #trouble = new LogTrouble();
  #rows = '';
  /** Rows on their way to the file: training does not wait for them. */
  #underWay: Promise<void> | undefined;
  #startMs = 0;
  #wroteMs = 0;
  /** Rows of the group of steps at hand, without their times. */
  #pending: Row[] = [];
  /** Where the group before ended. */
  #groupStep = 0;
  #groupMs = 0;
  #before = { step: 0, seconds: 0 };

  constructor(options: CsvLogOptions) {
    checkOptions('CsvLogHook', options, ['file', 'loss', 'batchSize', 'everySteps', 'metrics']);
    this.#options = options;
    this.#every = options.everySteps ?? EVERY_STEPS;
    if (!Number.isInteger(this.#every) || this.#every < 1) {
      const reason = `everySteps is a number of steps, not ${String(options.everySteps)}`;
      throw new MonolithError('ML_OPTION', { where: 'CsvLogHook', option: 'everySteps', reason });
    }
    this.#columns = [...COLUMNS, ...(options.metrics ?? []).map((name) => `eval_${name}`)];
    this.#fetches = [options.loss];
  }

  async afterCreateSession(session: Session): Promise<void> {
    const { file } = this.#options;
    const header = `${this.#columns.join(',')}\n`;
    await this.#writing(async () => takeOver(file, header, session.globalStep));
    this.#groupStep = session.globalStep;
    this.#before = { step: session.globalStep, seconds: 0 };
    this.#startMs = this.#groupMs = this.#wroteMs = performance.now();
  }

  quietSteps(): number {
    return Number.POSITIVE_INFINITY;
  }

  beforeRun(): readonly Fetch[] {
    return this.#fetches;
  }

  afterRun({ globalStep }: RunContext, [loss]: readonly FetchValue[]): void {
    if (globalStep % this.#every === 0) this.#pending.push({ step: globalStep, loss: loss as number });
  }

  afterEvaluation(_context: RunContext, { step, loss, auc, metrics }: EvaluationReport): void {
    const named = Object.entries(metrics).map(([name, value]) => [`eval_${name}`, value] as const);
    this.#pending.push({ step, eval_loss: loss, eval_auc: auc, ...Object.fromEntries(named) });
  }

  /** Steps of a group are told of together, when all have run: their times and their speed are those of the group. */
  poll({ globalStep, requestStop }: RunContext): void {
    const nowMs = performance.now();
    const [steps, ms] = [globalStep - this.#groupStep, nowMs - this.#groupMs];
    if (steps > 0) {
      for (const row of this.#pending) {
        const seconds = (this.#groupMs - this.#startMs + (ms * (row.step! - this.#groupStep)) / steps) / 1000;
        this.#row({ seconds, ...this.#speed(row, seconds), ...row });
      }
      this.#pending = [];
      [this.#groupStep, this.#groupMs] = [globalStep, nowMs];
    }
    if (this.#rows !== '' && this.#underWay === undefined && nowMs - this.#wroteMs >= WRITE_MS) {
      this.#underWay = this.#write().catch(requestStop);
    }
  }

  /** After all hooks have ended, so that the last evaluation is in it. */
  async afterEnd(): Promise<void> {
    await this.#flush();
  }

  /** After an error too: what led to it is worth reading. */
  async close(): Promise<void> {
    await this.#flush();
  }

  /** Since the row of steps before; what was saved or evaluated meanwhile took its time too. */
  #speed({ step, loss }: Row, seconds: number): Row {
    if (loss === undefined) return {};
    const stepsPerS = (step! - this.#before.step) / (seconds - this.#before.seconds);
    this.#before = { step: step!, seconds };
    return { steps_per_s: stepsPerS, examples_per_s: stepsPerS * this.#options.batchSize };
  }

  #row(values: Row): void {
    this.#rows += `${this.#columns.map((name) => text(name, values[name])).join(',')}\n`;
  }

  async #flush(): Promise<void> {
    await this.#underWay;
    const seconds = (performance.now() - this.#startMs) / 1000;
    // What no group came after: the last evaluation, or steps before an error.
    for (const row of this.#pending) this.#row({ seconds, ...row });
    this.#pending = [];
    await this.#write();
  }

  /** Writes what there is, one call after the other; what comes meanwhile waits for the next. */
  async #write(): Promise<void> {
    const rows = this.#rows;
    this.#rows = '';
    this.#wroteMs = performance.now();
    try {
      const done = rows === '' || (await this.#trouble.attempt(() => this.#append(rows)));
      if (!done && rows.length <= WAITING_CHARS_MAX) this.#rows = rows + this.#rows;
    } finally {
      this.#underWay = undefined;
    }
  }

  /** All of the rows or none: half of them would come twice when they are written again. */
  #append(rows: string): Promise<void> {
    const { file } = this.#options;
    return this.#writing(async () => {
      const size = existsSync(file) ? statSync(file).size : 0;
      try {
        await appendFile(file, rows);
      } catch (cause) {
        await truncate(file, size).catch(() => undefined); // There may be no such file by now.
        throw cause;
      }
    });
  }

  async #writing(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (cause) {
      const { file } = this.#options;
      if (cause instanceof MonolithError) throw cause;
      const hint = 'name a file in a folder that exists and can be written, on a disk with free space';
      throw new MonolithError('ML_OUTPUT', { file, reason: messageOf(cause) }, { hint, cause });
    }
  }
}

/** Numbers as short as they are exact enough to plot. */
function text(name: string, value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  return name === 'step' ? String(value) : String(Number(value.toPrecision(7)));
}

/**
 * Leaves the rows of the file up to `step`, or makes one without rows. One that is no log of these columns is not
 * touched.
 */
function takeOver(file: string, header: string, step: number): void {
  const found = existsSync(file) ? readWhole(file, 'logBytes').toString('utf8') : '';
  if (found !== '' && !found.startsWith(header)) {
    const reason = `${file} has other columns than this log would have`;
    throw new MonolithError('ML_OUTPUT', { file, reason }, { hint: 'name another file, or remove this one' });
  }
  // What a process that was killed left of a row has no end.
  const lines = found.slice(header.length).split('\n').slice(0, -1);
  const rows = lines.filter((row) => Number(row.split(',')[0]) <= step);
  const text = header + rows.map((row) => `${row}\n`).join('');
  if (text !== found) replaceFile(existsSync(file) ? realpathSync(file) : file, text, { forced: false });
}
