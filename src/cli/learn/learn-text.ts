/** @file What people read of a run on a table, event by event. */
import { counted, lossText, shareText as percent, rateText, wholeText as whole } from '../../base/number-text.js';
import type {
  ColumnFound,
  DataEvent,
  DoneEvent,
  RunEvent,
  SplitEvent,
  TestEvent,
  TrainedEvent,
} from '../../recipe/run-event.js';
import { shellWord } from '../result-text.js';
import { sparkline } from './sparkline.js';

/** Bars of a sparkline. */
const SPARKS = 30;

/** Tells events of one run, which later ones refer to. */
export class LearnText {
  readonly #losses: number[] = [];
  #split: SplitEvent | undefined;
  #data: DataEvent | undefined;
  #stepsPerEpoch = 0;
  #startStep = 0;

  /** The lines of an event; null where there is nothing to say. */
  of(event: RunEvent): string | null {
    switch (event.event) {
      case 'data':
        this.#data = event;
        return dataText(event);
      case 'split':
        this.#split = event;
        return splitText(event);
      case 'model':
        return event.text;
      case 'start':
        return this.#start(event);
      case 'progress':
        this.#losses.push(event.loss);
        return null;
      case 'eval':
        return this.#evaluated(event);
      case 'trained':
        return this.#trained(event);
      case 'test':
        return testText(event);
      case 'run':
      case 'time':
      case 'best':
      case 'checkpoint':
      case 'tables':
      case 'freshness':
      case 'error':
      case 'done':
        return null;
      case 'asked':
        return `asked at step ${event.step}: ${event.what}`;
      case 'warning':
        return `warning ${event.code}: ${event.message}`;
      case 'note':
        return `note: ${event.message}`;
      default:
        return event satisfies never;
    }
  }

  #start(event: Extract<RunEvent, { event: 'start' }>): string {
    this.#startStep = event.startStep;
    if (this.#split !== undefined) this.#stepsPerEpoch = Math.ceil(this.#split.train / event.batchSize);
    const parts = [
      event.model,
      `batch ${event.batchSize}`,
      counted(event.threads, 'thread'),
      `${event.backend} backend`,
      ...(event.modelDir === null ? [] : [event.modelDir]),
    ];
    const going = event.startStep > 0 ? `\ngoing on from step ${event.startStep}` : '';
    return `${parts.join(', ')}${going}`;
  }

  #evaluated({ step, auc, loss }: Extract<RunEvent, { event: 'eval' }>): string {
    const found = `loss ${lossText(loss)}   AUC ${auc === null ? 'undefined' : auc.toFixed(4)}`;
    const trained = step - this.#startStep;
    if (trained === 0) return `before   step ${whole(step)}   ${found}`;
    const epoch = this.#stepsPerEpoch > 0 ? trained / this.#stepsPerEpoch : 0;
    const named = Number.isInteger(epoch) && epoch > 0 ? `epoch ${epoch}` : 'now';
    return `${named.padEnd(8)} step ${whole(step)}   ${found}`;
  }

  #trained(event: TrainedEvent): string {
    const lines = [stoppedText(event)];
    if (this.#losses.length > 1) {
      const [first, last] = [this.#losses[0]!, this.#losses.at(-1)!];
      lines.push(`  loss          ${lossText(first)} ${sparkline(this.#losses, SPARKS)} ${lossText(last)}`);
    }
    const rate = rateText(event.examplesPerS);
    lines.push(`  time          ${event.seconds.toFixed(1)} s     ${rate} examples/s, evaluations included`);
    return lines.join('\n');
  }

  /** The closing lines. */
  done({ report, checkpoint, modelDir, stoppedBy }: DoneEvent): string {
    const lines: string[] = [];
    if (checkpoint !== null) lines.push(`model   ${checkpoint}`);
    if (report !== null) lines.push(`report  ${report}`);
    if (modelDir !== null && stoppedBy === 'signal') {
      lines.push(`go on   the same command with --model-dir ${shellWord(modelDir)}`);
    }
    if (modelDir !== null && this.#data !== undefined) lines.push(`next    ${this.#next(modelDir)}`);
    return lines.map((line) => `${line}\n`).join('');
  }

  #next(modelDir: string): string {
    const dir = shellWord(modelDir);
    const first = this.#data!.columns.find(({ role }) => role === 'id');
    const value = first?.top[0]?.value.trim();
    if (first === undefined || value === undefined) return `monolith explain ${dir}`;
    return `monolith recommend ${dir} --for ${shellWord(`${first.name}=${value}`)}      monolith explain ${dir}`;
  }
}

/** What a test came to; `rows` are those of a file that was named in place of the rows held out. */
export function testText(event: TestEvent, rows?: string): string {
  const { auc, loss, examples, metrics, gauc, baseline, ceiling } = event;
  const [held, of] = rows === undefined ? ['held-out ', 'rows that chose nothing'] : ['', rows];
  if (metrics !== undefined) {
    const named = Object.entries(metrics).map(
      ([name, value]) => `${name} ${value === null ? 'undefined' : lossText(value)}`,
    );
    return `  ${`${held}loss`.padEnd(13)} ${lossText(loss)}    ${named.join(', ')}, on ${whole(examples)} ${of}`;
  }
  const beside =
    baseline?.auc == null ? '' : `    averages of ${listed(baseline.columns)} alone: ${baseline.auc.toFixed(4)}`;
  const known = ceiling === null ? '' : `    the best that can be: ${ceiling.toFixed(4)}`;
  return [
    `  ${`${held}AUC`.padEnd(13)} ${auc === null ? 'undefined' : auc.toFixed(4)}${beside}${known}`,
    ...(gauc?.value == null
      ? []
      : [`  ${`${held}GAUC`.padEnd(13)} ${gauc.value.toFixed(4)}    within each ${gauc.column}`]),
    `  ${`${held}loss`.padEnd(13)} ${lossText(loss)}    on ${whole(examples)} ${of}`,
  ].join('\n');
}

const epochsText = (epochs: number): string => (epochs > 0 ? `, ${counted(Number(epochs.toFixed(2)), 'epoch')}` : '');

function stoppedText({ stoppedBy, step, epochs, bestStep }: TrainedEvent): string {
  const kept = bestStep === null ? '' : `; step ${whole(bestStep)} is kept`;
  switch (stoppedBy) {
    case 'early stop':
      return `stopped: no better for a while${kept}`;
    case 'signal':
      return `stopped early at step ${whole(step)}${kept}`;
    default:
      return `done at step ${whole(step)}${epochsText(epochs)}${kept}`;
  }
}

function dataText(event: DataEvent): string {
  const { files, rows, sides, source } = event;
  const notes = files[0]?.notes ?? [];
  const many = files.length > 1 ? [`${files.length} files`] : [];
  const joined = sides.map(({ file, key }) => `${file} joined by ${key}`);
  const head = [...notes, ...many].join(', ');
  const lines = [[`${source}  ${head}${head === '' ? '' : '; '}${whole(rows)} rows`, ...joined].join('; ')];
  const names = event.columns.map(({ name }) => name.length);
  const width = Math.min(24, Math.max(8, ...names));
  const shown = event.columns.length > 40 ? event.columns.slice(0, 40) : event.columns;
  for (const column of shown) lines.push(columnLine(column, width, event));
  if (shown.length < event.columns.length) lines.push(`  … and ${event.columns.length - shown.length} more`);
  if (event.looked < rows) lines.push(`  columns were judged by the first ${whole(event.looked)} rows`);
  if (event.badRows > 0) {
    lines.push(`  ${whole(event.badRows)} rows could not be read and are left out: ${event.badRowExamples[0]}`);
  }
  return lines.join('\n');
}

function columnLine(column: ColumnFound, width: number, { label, labelColumn, positive, sides }: DataEvent): string {
  const { name, type, distinct, more, missing } = column;
  const count = `${whole(distinct)}${more ? '+' : ''} distinct`;
  const gaps = missing > 0 ? `, ${percent(missing)} missing` : '';
  const role = name === labelColumn ? `label: ${label}, ${percent(positive)} of the rows` : roleText(column);
  const from = column.side !== undefined && sides.length > 1 ? ` (${column.side})` : '';
  return `  ${name.padEnd(width)}  ${type.padEnd(5)} ${count.padStart(17)}   ${role}${gaps}${from}`;
}

function roleText({ role, why, split, log, name }: ColumnFound): string {
  switch (role) {
    case 'id':
      return 'id';
    case 'ids':
      return `ids, split at ${split}`;
    case 'words':
      return 'words';
    case 'number':
      return log === true ? 'number, as its logarithm' : 'number';
    case 'time':
      return 'time: no feature; says which rows are the newest';
    case 'none':
      return `left out: ${why ?? `--id ${name} or --number ${name} uses it`}`;
    case 'label':
      return 'label';
    default:
      return role satisfies never;
  }
}

function splitText({ by, train, validation, test, unseen }: SplitEvent): string {
  const ways: Readonly<Record<string, string>> = {
    time: 'the newest rows; --split row draws them instead',
    row: "by a hash of the row's number",
    files: 'the rows of --eval-data',
    module: 'as the module says',
  };
  const how = ways[by] ?? `by a hash of ${by}`;
  const parts = [
    `training on ${whole(train)} rows; ${whole(validation)} choose the best epoch, ${whole(test)} report: ${how}`,
  ];
  const strange = Object.entries(unseen).filter(([, share]) => share >= 0.0005);
  const shares = strange.map(([name, share]) => `${name} ${percent(share)}`);
  if (shares.length > 0) parts.push(`  ids of the rows that report and that training never sees: ${shares.join(', ')}`);
  return parts.join('\n');
}

function listed(names: readonly string[]): string {
  if (names.length <= 3) return names.join(' and ');
  return `${names.length} columns`;
}
