/** @file A trace summary as aligned tables for a terminal. */
import { checkOptions } from '../base/check-options.js';
import type { StepShares } from './step-shares.js';
import type { OpSummary, TraceSummary } from './trace-summary.js';

export interface FormatTraceOptions {
  /** Escape codes for headings and warnings; off unless asked for. */
  readonly color?: boolean;
  /** Rows shown of each long table. */
  readonly top?: number;
}

const TOP = 12;
const NAME_CHARS_MAX = 40;
const BAR_CHARS = 20;

interface Column {
  readonly title: string;
  /** Text starts at the left, numbers end at the right. */
  readonly align?: 'left';
}

/**
 * The summary as text, without a line break at the end.
 *
 * ```ts
 * process.stdout.write(`${formatTraceSummary(await summarizeTrace('trace.json'), { top: 5 })}\n`);
 * ```
 */
export function formatTraceSummary(summary: TraceSummary, options: FormatTraceOptions = {}): string {
  checkOptions('formatTraceSummary', options, ['color', 'top']);
  const top = options.top ?? TOP;
  const bold = (text: string) => (options.color ? `\x1b[1m${text}\x1b[22m` : text);
  const warn = (text: string) => (options.color ? `\x1b[33m${text}\x1b[39m` : text);
  const section = (title: string, total: number, lines: string[]) =>
    total === 0
      ? []
      : ['', bold(total > lines.length - 1 ? `${title} (${lines.length - 1} of ${total})` : title), ...lines];

  const lines = [`${bold('wall')} ${duration(summary.wallMs)}, ${plural(summary.threads.length, 'thread')}`];
  if (summary.lost > 0) {
    lines.push(warn(`${plural(summary.lost, 'event')} lost: the trace shows the end of the run, not all of it`));
  }
  if (summary.steps !== null) lines.push(stepLine(summary.steps));
  if (summary.ops.length + summary.waitTotals.length === 0) lines.push('no spans were recorded');
  lines.push(
    ...section('threads', summary.threads.length, threadTable(summary)),
    ...section('time by op', summary.ops.length, opTable(summary.ops.slice(0, top))),
    ...section('waits by name', summary.waitTotals.length, opTable(summary.waitTotals.slice(0, top))),
    ...section('longest waits', summary.waits.length, waitTable(summary, top)),
    ...section('counters', summary.counters.length, counterTable(summary, top)),
  );
  return lines.join('\n');
}

/** Of the time between the first and the last step of the threads that ran them. */
function stepLine({ kernels, waits, javascript, waitsByName }: StepShares): string {
  const named = waitsByName.map(({ name, share }) => `${shorten(name)} ${percent(share)}`).join(', ');
  const list = named === '' ? '' : ` (${named})`;
  return `steps: kernels ${percent(kernels)}, waits ${percent(waits)}${list}, JavaScript ${percent(javascript)}`;
}

function threadTable({ threads }: TraceSummary): string[] {
  const columns: Column[] = [
    { title: 'thread', align: 'left' },
    { title: 'used' },
    { title: '', align: 'left' },
    { title: 'busy ms' },
    { title: 'wait ms' },
    { title: 'lost' },
  ];
  const rows = threads.map((thread) => [
    shorten(thread.name),
    percent(thread.utilisation),
    bar(thread.utilisation),
    thread.busyMs.toFixed(2),
    thread.waitMs.toFixed(2),
    String(thread.lost),
  ]);
  return table(columns, rows);
}

function opTable(ops: readonly OpSummary[]): string[] {
  const columns: Column[] = [
    { title: 'name', align: 'left' },
    { title: 'kind', align: 'left' },
    { title: 'count' },
    { title: 'total ms' },
    { title: 'self ms' },
    { title: 'share' },
    { title: 'mean us' },
    { title: 'max us' },
  ];
  const rows = ops.map((op) => [
    shorten(op.name),
    shorten(op.category),
    String(op.count),
    op.totalMs.toFixed(2),
    op.selfMs.toFixed(2),
    percent(op.share),
    op.meanUs.toFixed(1),
    op.maxUs.toFixed(1),
  ]);
  return table(columns, rows);
}

function waitTable({ waits }: TraceSummary, top: number): string[] {
  const columns: Column[] = [
    { title: 'thread', align: 'left' },
    { title: 'name', align: 'left' },
    { title: 'at ms' },
    { title: 'ms' },
  ];
  const rows = waits
    .slice(0, top)
    .map((wait) => [shorten(wait.thread), shorten(wait.name), wait.startMs.toFixed(2), wait.ms.toFixed(3)]);
  return table(columns, rows);
}

function counterTable({ counters }: TraceSummary, top: number): string[] {
  const columns: Column[] = [
    { title: 'counter', align: 'left' },
    { title: 'samples' },
    { title: 'min' },
    { title: 'mean' },
    { title: 'max' },
    { title: 'last' },
  ];
  const rows = counters
    .slice(0, top)
    .map(({ name, count, min, mean, max, last }) => [
      shorten(name),
      String(count),
      ...[min, mean, max, last].map((value) => String(Number(value.toPrecision(6)))),
    ]);
  return table(columns, rows);
}

/** Title line and rows, padded to the widest cell of each column. */
function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const widths = columns.map(({ title }, at) =>
    rows.reduce((width, row) => Math.max(width, row[at]!.length), title.length),
  );
  const draw = (cells: readonly string[]) => {
    const padded = cells.map((cell, at) =>
      columns[at]!.align === 'left' ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!),
    );
    return `  ${padded.join('  ')}`.trimEnd();
  };
  return [draw(columns.map(({ title }) => title)), ...rows.map(draw)];
}

/** Names come from models and files: no control characters, and no column as wide as the screen. */
function shorten(name: string): string {
  const plain = name.replace(/\p{C}/gu, '?');
  return plain.length <= NAME_CHARS_MAX ? plain : `${plain.slice(0, NAME_CHARS_MAX - 1)}…`;
}

function bar(part: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, part)) * BAR_CHARS);
  return '#'.repeat(filled) + '.'.repeat(BAR_CHARS - filled);
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)}%`;
}

function duration(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${ms.toFixed(2)} ms`;
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
