/**
 * @file Writes summaries of a training to a TensorBoard event file: those of the graph's collection `summaries`, and
 * numbers that are known outside of it, such as speed and rows of tables.
 *
 * Tensors of summaries are fetched in the steps that are written and in no other, so groups of steps stay whole in
 * between. Evaluations are written to a folder of their own, `eval`, as tf.estimator does.
 */
import { join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { MonolithError } from '../../base/errors.js';
import type { FileSystem } from '../../base/files/file-system.js';
import type { Graph } from '../../graph/graph.js';
import type { SummaryValue } from '../../io/event-messages.js';
import type { FetchValue } from '../../runtime/session/fetch.js';
import type { Fetch, Session } from '../../runtime/session/session.js';
import { TABLES } from '../../sparse/steps/embedding-ops.js';
import { HashTable } from '../../sparse/table/hash-table.js';
import { EventFileWriter } from '../../summary/event-file-writer.js';
import { type GraphSummary, SUMMARIES } from '../../summary/summary-ops.js';
import { scalarValue, summaryValue } from '../../summary/summary-values.js';
import type { EvaluationListener, EvaluationReport } from './evaluation.js';
import { HeadMetrics, type SummaryHead } from './head-metrics.js';
import type { RunContext, TrainHook } from './hook.js';
import { LogTrouble } from './log-trouble.js';

export interface SummarySaverOptions {
  /** Where the event file goes, most often the model directory. */
  readonly dir: string;
  /** Steps between two points; the first step has one too. Default: 100. */
  readonly everySteps?: number;
  /** Examples of a step: with it, `examples/sec` is written. */
  readonly batchSize?: number;
  /** Default: what the graph's collection `summaries` holds when the session is made. */
  readonly summaries?: readonly GraphSummary[];
  /** What `<head>_auc` and `<head>_mse` are written of. Default: nothing. */
  readonly heads?: readonly SummaryHead[];
  /** Rows of each table. Default: true. */
  readonly tables?: boolean;
  /** More numbers of a point. */
  readonly more?: (session: Session) => readonly SummaryValue[];
  readonly clock?: Clock;
  readonly fileSystem?: FileSystem;
}

const EVERY_STEPS = 100;
const NOTHING: readonly Fetch[] = [];
/** Folder of evaluations, a run of its own in TensorBoard. */
const EVAL_DIR = 'eval';

/**
 * Writes TensorBoard summaries of a training, and of its evaluations as a listener of EvaluationHook.
 *
 * ```ts
 * summary.scalar('loss', model.loss);
 * new SummarySaverHook({ dir: 'runs/tastes', everySteps: 100, batchSize: 64 });
 * ```
 */
export class SummarySaverHook implements TrainHook, EvaluationListener {
  readonly #options: SummarySaverOptions;
  readonly #every: number;
  readonly #clock: Clock;
  readonly #heads: HeadMetrics;
  readonly #trouble = new LogTrouble();
  #summaries: readonly GraphSummary[] = [];
  #fetches: readonly Fetch[] = NOTHING;
  #writer: EventFileWriter | undefined;
  #evaluations: EventFileWriter | undefined;
  /** Step of the next point. */
  #next = 0;
  /** When and where the last point was. */
  #last = { step: 0, ms: 0 };

  constructor(options: SummarySaverOptions) {
    checkOptions('SummarySaverHook', options, [
      'dir',
      'everySteps',
      'batchSize',
      'summaries',
      'heads',
      'tables',
      'more',
      'clock',
      'fileSystem',
    ]);
    this.#options = options;
    this.#every = options.everySteps ?? EVERY_STEPS;
    this.#clock = options.clock ?? systemClock;
    this.#heads = new HeadMetrics(options.heads ?? []);
    if (!Number.isInteger(this.#every) || this.#every < 1) {
      const reason = `everySteps is a number of steps, not ${String(options.everySteps)}`;
      throw new MonolithError('ML_OPTION', { where: 'SummarySaverHook', option: 'everySteps', reason });
    }
  }

  begin(graph: Graph): void {
    this.#summaries = this.#options.summaries ?? graph.getCollection(SUMMARIES);
    this.#fetches = [...this.#summaries.map(({ tensor }) => tensor), ...this.#heads.fetches];
  }

  /** A file of its own for each session: points after the restored step are trained again and written again. */
  async afterCreateSession(session: Session): Promise<void> {
    await this.#writer?.close();
    this.#writer = await this.#open(this.#options.dir);
    await this.#writer.addRestart(session.globalStep + 1);
    this.#next = session.globalStep + 1;
    this.#last = { step: session.globalStep, ms: this.#clock.now() };
  }

  quietSteps(globalStep: number): number {
    return Math.max(1, this.#next - 1 - globalStep);
  }

  /** The step of a point runs alone, with the tensors of summaries. */
  beforeRun({ globalStep }: RunContext): readonly Fetch[] {
    return globalStep + 1 >= this.#next ? this.#fetches : NOTHING;
  }

  afterRun(context: RunContext, values: readonly FetchValue[]): Promise<void> | undefined {
    return context.globalStep >= this.#next ? this.#write(context, values) : undefined;
  }

  async afterEvaluation(_context: RunContext, { step, loss, auc, metrics }: EvaluationReport): Promise<void> {
    const named = Object.entries({ loss, auc, ...metrics });
    const points = named.flatMap(([name, value]) => (value === null ? [] : [scalarValue(name, value)]));
    const done = await this.#trouble.attempt(async () => {
      this.#evaluations ??= await this.#open(join(this.#options.dir, EVAL_DIR));
      await this.#evaluations.addSummary(points, step);
      await this.#evaluations.flush();
    });
    if (!done) this.#evaluations = await abandon(this.#evaluations);
  }

  /** After an error too: what led to it is worth seeing. */
  async close(): Promise<void> {
    for (const writer of [this.#writer, this.#evaluations]) await this.#trouble.attempt(async () => writer?.close());
  }

  #open(dir: string): Promise<EventFileWriter> {
    const { fileSystem } = this.#options;
    return EventFileWriter.open(dir, { clock: this.#clock, ...(fileSystem && { fileSystem }) });
  }

  async #write({ globalStep, session }: RunContext, values: readonly FetchValue[]): Promise<void> {
    this.#next = globalStep + this.#every;
    const points = [...this.#speed(globalStep), ...this.#rows(session), ...(this.#options.more?.(session) ?? [])];
    // Steps of a group that went past the one that was meant come without the tensors.
    if (values.length === this.#fetches.length) {
      const count = this.#summaries.length;
      points.unshift(
        ...this.#summaries.map((summary, index) => summaryValue(summary, values[index])),
        ...this.#heads.points(values.slice(count)),
      );
    }
    const done = await this.#trouble.attempt(async () => {
      this.#writer ??= await this.#open(this.#options.dir);
      await this.#writer.addSummary(points, globalStep);
    });
    if (!done) this.#writer = await abandon(this.#writer);
  }

  #speed(step: number): SummaryValue[] {
    const ms = this.#clock.now();
    const [steps, seconds] = [step - this.#last.step, (ms - this.#last.ms) / 1000];
    this.#last = { step, ms };
    if (steps <= 0 || seconds <= 0) return [];
    const perSecond = steps / seconds;
    const { batchSize } = this.#options;
    const examples = batchSize === undefined ? [] : [scalarValue('examples/sec', perSecond * batchSize)];
    return [scalarValue('global_step/sec', perSecond), ...examples];
  }

  #rows(session: Session): SummaryValue[] {
    if (this.#options.tables === false) return [];
    return session.graph.getCollection(TABLES).flatMap((config) => {
      const table = HashTable.of(session, config);
      return [scalarValue(`table/${table.name}/rows`, table.size)];
    });
  }
}

/** Closes a file that ends in half a record: the next points begin another one. */
async function abandon(writer: EventFileWriter | undefined): Promise<undefined> {
  await writer?.close().catch(() => undefined); // The failure was told of.
  return undefined;
}
