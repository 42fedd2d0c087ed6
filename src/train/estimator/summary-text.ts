/** @file The summary of a model as a table of text. */
import type { SummaryParts } from './summary-parts.js';

type Cells = readonly string[];

const MIB = 1 << 20;

export function summaryText(summary: SummaryParts): string {
  const layers = summary.layers.map(({ name, kind, output, floats, optimizer }): Cells => {
    return [name, kind, output, floats === 0 ? '' : whole(floats), optimizer ?? ''];
  });
  const tables = summary.tables.map(({ name, dim, optimizers, rows, rowBytes, bytes }): Cells => {
    return [name, String(dim), whole(rows), String(rowBytes), bytesText(bytes), optimizers.join(', ')];
  });
  const parts = [`model ${summary.model}, step ${summary.step}`];
  if (layers.length > 0) parts.push(columns(['layer', 'table or op', 'output', 'floats', 'optimizer'], layers, [3]));
  if (tables.length > 0) {
    parts.push(columns(['table', 'dim', 'rows', 'bytes per row', 'memory', 'optimizer'], tables, [1, 2, 3, 4]));
  }
  const { tableRows, tableBytes, denseFloats, optimizerFloats } = summary;
  parts.push(
    `${whole(denseFloats)} floats of variables, ${whole(optimizerFloats)} more of their optimizers; ` +
      `${whole(tableRows)} rows of tables in ${bytesText(tableBytes)}`,
  );
  return parts.join('\n\n');
}

/** Columns as wide as what is in them; those of numbers end at the right. */
function columns(head: Cells, rows: readonly Cells[], numbers: readonly number[]): string {
  const widths = head.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index]!.length)));
  const line = (cells: Cells) =>
    cells
      .map((cell, index) => (numbers.includes(index) ? cell.padStart(widths[index]!) : cell.padEnd(widths[index]!)))
      .join('  ')
      .trimEnd();
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

const whole = (value: number): string => value.toLocaleString('en-US');

function bytesText(bytes: number): string {
  return bytes < MIB ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`;
}
