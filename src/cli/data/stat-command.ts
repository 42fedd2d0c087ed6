/** @file `monolith data stat`: what each column of all rows is like, and what training would take it for. */
import { statSync } from 'node:fs';
import { bytesText } from '../../base/number-text.js';
import { visible } from '../../base/visible.js';
import type { ColumnStats } from '../../recipe/column-stats.js';
import { labelColumn } from '../../recipe/label-plan.js';
import type { ColumnPlan } from '../../recipe/recipe.js';
import { sniffColumn, typeOf } from '../../recipe/sniff-column.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { sparkline } from '../learn/sparkline.js';
import { EXIT_DONE } from '../report.js';
import { stoppable } from '../trained/with-run.js';
import type { StatFlags } from './data-options.js';
import { calledBy, noRows, openRows, TableStats } from './open-data.js';

const BARS = 10;
const TEXT_MAX = 36;

export interface ColumnTold {
  readonly name: string;
  readonly type: string;
  readonly role: string;
  readonly why: string | null;
  readonly missing: number;
  readonly distinct: number;
  /** Whether there are more values than were counted. */
  readonly more: boolean;
  readonly least: number | null;
  readonly most: number | null;
  readonly mean: number | null;
  readonly top: readonly { readonly value: string; readonly share: number }[];
  /** Rows in equal parts of the range, or of the most frequent values. */
  readonly histogram: readonly number[];
}

export function runStatCommand(files: string, flags: StatFlags, io: CliIo): Promise<number> {
  return stoppable(io, async (signal) => {
    const start = performance.now();
    const source = calledBy(files);
    const dataset = openRows(files, flags);
    const stats = new TableStats();
    for await (const rows of dataset.batches(4096)) {
      signal.throwIfAborted();
      stats.add(rows);
    }
    if (stats.rows === 0) throw noRows(source);
    const names = [...stats.columns.keys()];
    const label = flags.label === null ? undefined : labelColumn(flags.label, names, source);
    const over = stats.checkNamed(flags, source);
    const columns = [...stats.columns.values()].map((one) =>
      columnTold(one, one.name === label ? labelPlan(one) : sniffColumn(one, { over })),
    );
    const bytes = dataset.files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
    const { badRows } = dataset.findings;
    const found = { rows: stats.rows, files: dataset.files.length, bytes, badRows };
    if (flags.json) io.out.write(jsonLine({ event: 'stat', source, ...found, columns }));
    else {
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      const left = badRows > 0 ? `, ${badRows} left out` : '';
      const head = `${source}  ${stats.rows.toLocaleString('en-US')} rows${left}, ${bytesText(bytes)}`;
      io.out.write(`${head}  (read whole in ${seconds} s)\n${tableText(columns)}`);
      if (!flags.quiet) {
        io.out.write(
          'role is what train would do with it; overrule it with --id, --number, --time, --ignore, --label\n',
        );
      }
    }
    return EXIT_DONE;
  });
}

const labelPlan = (stats: ColumnStats): ColumnPlan => ({ name: stats.name, type: typeOf(stats), role: 'label' });

function columnTold(stats: ColumnStats, { type, role, why }: ColumnPlan): ColumnTold {
  const isNumber = stats.numbers > 0 && type !== 'list';
  return {
    ...{ name: stats.name, type, role, why: why ?? null },
    missing: stats.missing / stats.rows,
    distinct: stats.distinct,
    more: stats.overflowed,
    least: isNumber ? stats.min : null,
    most: isNumber ? stats.max : null,
    mean: isNumber ? stats.mean : null,
    top: stats.top(3),
    histogram: role === 'number' || role === 'time' || role === 'label' ? ranges(stats) : frequencies(stats),
  };
}

/** Rows by equal parts of the range; of texts by how often they are there. */
function ranges(stats: ColumnStats): number[] {
  const { min, max } = stats;
  if (stats.numbers === 0 || stats.overflowed) return frequencies(stats);
  const bins = new Array<number>(Math.min(BARS, Math.max(1, stats.distinct))).fill(0);
  for (const [cell, count] of stats.counts) {
    const value = Number(cell);
    if (Number.isNaN(value)) continue;
    const at = max === min ? 0 : Math.floor(((value - min) / (max - min)) * bins.length);
    bins[Math.min(bins.length - 1, at)]! += count;
  }
  return bins;
}

/** Rows of values in parts of as many values each, the most frequent first. */
function frequencies({ counts }: ColumnStats): number[] {
  const sorted = [...counts.values()].sort((a, b) => b - a);
  const bins = new Array<number>(Math.min(BARS, sorted.length)).fill(0);
  for (const [at, count] of sorted.entries()) bins[Math.floor((at * bins.length) / sorted.length)]! += count;
  return bins;
}

function tableText(columns: readonly ColumnTold[]): string {
  const rows = columns.map((column) => [
    visible(column.name),
    column.type,
    column.role === 'none' ? `left out: ${column.why ?? 'not said'}` : column.role,
    `${Math.round(column.missing * 100)}%`,
    `${column.distinct.toLocaleString('en-US')}${column.more ? '+' : ''}`,
    rangeText(column),
    sparkline(column.histogram, BARS),
  ]);
  const lines = [['column', 'type', 'role', 'missing', 'distinct', 'range or most frequent', 'histogram'], ...rows];
  const widths = lines[0]!.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)));
  const padded = (cell: string, at: number) =>
    at === 3 || at === 4 ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!);
  return lines.map((line) => `${line.map(padded).join('  ').trimEnd()}\n`).join('');
}

function rangeText({ role, type, least, most, mean, top }: ColumnTold): string {
  const number = (value: number) => Number(value.toPrecision(6)).toLocaleString('en-US', { useGrouping: false });
  if (type === 'time' && least !== null && most !== null) {
    const unit = most > 1e11 ? 1 : 1000;
    const day = (value: number) => new Date(value * unit).toISOString().slice(0, 10);
    return `${day(least)} … ${day(most)}`;
  }
  if ((role === 'number' || role === 'label') && least !== null && most !== null && mean !== null) {
    return `${number(least)} … ${number(most)}, mean ${number(mean)}`;
  }
  const [first, ...others] = top;
  if (first === undefined) return '';
  const share = `${(first.share * 100).toFixed(1)} %`;
  const shown = (value: string) => visible(value.trim());
  const text = [`${shown(first.value)} (${share})`, ...others.map(({ value }) => shown(value))].join(', ');
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX - 1)}…` : text;
}
