/** @file What `monolith inspect` prints for people. */
import { dumpShapeOf, floatsOf, segmentStateCount, wordOf } from '../io/optimizer-dump.js';
import { signatureOfFidV2, slotOfFidV2 } from '../sparse/config/fid.js';
import type { DenseInfo, FilterInfo } from './inspect-contents.js';
import type { FoundRow, TableReport } from './inspect-scan.js';
import type { ShownSegment } from './inspect-segments.js';
import { bytesText, counted } from './progress-line.js';
import type { SlotCount } from './slot-counts.js';

/** Slots named in the lines of a table. */
const SLOTS_SHOWN = 3;

export function denseLines(dense: readonly DenseInfo[]): string[] {
  if (dense.length === 0) return [];
  const width = dense.reduce((widest, { name }) => Math.max(widest, name.length), 0);
  const bytes = dense.reduce((sum, variable) => sum + variable.bytes, 0);
  const lines = dense.map(
    ({ name, dtype, shape }) => `  ${name.padEnd(width)}  ${dtype.padEnd(8)}[${shape.join(', ')}]`,
  );
  return [`${counted(dense.length, 'dense variable')}, ${bytesText(bytes)}`, ...lines];
}

/** A table that was read, or one whose rows were left alone. */
export type ShownTable =
  | TableReport
  | (Omit<TableReport, 'rows' | 'slots'> & { readonly rows: null; readonly slots: null });

export function tableLines(table: ShownTable): string[] {
  const { name, segments, rows, bytes, files, slots } = table;
  const lines: [string, string][] = [];
  if (segments.length > 0) lines.push(['segments', segmentsText(segments)]);
  if (rows === null) lines.push(['rows', `not read; ${bytesText(bytes)} in ${counted(files, 'file')}`]);
  else {
    const each = rows > 0 ? `, ${(bytes / rows).toFixed(1)} bytes each` : '';
    lines.push(['rows', `${rows} in ${counted(files, 'file')}, ${bytesText(bytes)}${each}`]);
  }
  if (table.newestSec !== null) lines.push(['updated', timesText(table.oldestSec ?? 0, table.newestSec)]);
  if (slots !== null && slots.length > 0) lines.push(['slots', slotsText(slots)]);
  return [`table ${name}`, ...lines.map(([field, text]) => `  ${field.padEnd(10)}${text}`)];
}

/** `16 adagrad + 1 ftrl`; `?` where the rows do not say. */
export function segmentsText(segments: readonly ShownSegment[]): string {
  return segments.map(({ dim, optimizer }) => `${dim ?? '?'} ${optimizer ?? 'without state'}`).join(' + ');
}

function timesText(oldestSec: number, newestSec: number): string {
  return oldestSec === newestSec ? timeText(newestSec) : `${timeText(oldestSec)} to ${timeText(newestSec)}`;
}

/** Seconds since 1970 as UTC; as they are when no calendar goes that far. */
export function timeText(seconds: number): string {
  if (seconds === 0) return 'no time was kept';
  return seconds <= 8.64e12 ? new Date(seconds * 1000).toISOString().replace('.000Z', 'Z') : `second ${seconds}`;
}

function slotsText(slots: readonly SlotCount[]): string {
  const shown = slots.slice(0, SLOTS_SHOWN).map(({ slot, rows }) => `${slot} (${counted(rows, 'row')})`);
  const more = slots.length > SLOTS_SHOWN ? `, ${slots.length - SLOTS_SHOWN} more` : '';
  return `${slots.length}: ${shown.join(', ')}${more}`;
}

/** The rows of each slot, largest first. */
export function slotLines({ name, rows, slots }: TableReport, top: number): string[] {
  const shown = slots.slice(0, top).map(({ slot, rows: count }) => {
    const percent = ((100 * count) / rows).toFixed(1);
    return `  ${String(slot).padStart(6)}${String(count).padStart(14)}${percent.padStart(8)}%`;
  });
  const left = slots.length - shown.length;
  const more = left > 0 ? [`  and ${counted(left, 'slot')} more; --top ${slots.length} shows all`] : [];
  return [`slots of ${name}`, `  ${'slot'.padStart(6)}${'rows'.padStart(14)}${'share'.padStart(9)}`, ...shown, ...more];
}

export function filterLines(filters: readonly FilterInfo[]): string[] {
  return filters.map(({ name, files, bytes, elements }) => {
    return `filter ${name}: ${counted(elements, 'id')} counted, ${counted(files, 'file')}, ${bytesText(bytes)}`;
  });
}

export function idText(id: bigint): string {
  return `id ${id} (slot ${slotOfFidV2(id)}, signature ${signatureOfFidV2(id)})`;
}

/** Weights and state of one segment of a row. */
export interface RowPart {
  readonly optimizer: string | null;
  readonly dim: number | null;
  /** Null when it is open which of the row's weights are those of this segment. */
  readonly weights: readonly number[] | null;
  readonly state: Readonly<Record<string, readonly number[] | bigint>>;
}

export function rowParts({ shape, row }: FoundRow): RowPart[] {
  let weightAt = 0;
  let stateAt = 0;
  return shape.shown.map((shown, i) => {
    const segment = shape.segments[i]!;
    const weights = [...row.weights.subarray(weightAt, weightAt + segment.dim)];
    const state: Record<string, readonly number[] | bigint> = {};
    for (const part of dumpShapeOf(segment).parts) {
      const range = floatsOf(segment, part);
      if (range !== null) {
        const from = stateAt + range.at;
        state[part.name] = [...row.state.subarray(from, from + range.count)];
      } else if (part.kind === 'int64') state[part.name] = wordPair(row.state, stateAt + wordOf(segment, part.scalar));
    }
    weightAt += segment.dim;
    stateAt += segmentStateCount(segment);
    return { ...shown, weights: shape.isCertain ? weights : null, state };
  });
}

function wordPair(state: Float32Array, at: number): bigint {
  const words = new Uint32Array(state.buffer, state.byteOffset, state.length);
  return BigInt.asIntN(64, (BigInt(words[at + 1]!) << 32n) | BigInt(words[at]!));
}

export function rowLines(found: FoundRow): string[] {
  const lines = [`table ${found.table}`, `  record    ${found.record} of ${found.file}`];
  lines.push(`  updated   ${timeText(found.row.lastUpdateSec)}`);
  if (!found.shape.isCertain) lines.push(`  weights   ${numbersText([...found.row.weights])}`);
  for (const { dim, optimizer, weights, state } of rowParts(found)) {
    lines.push(`  segment   ${segmentsText([{ dim, optimizer }])}`);
    if (weights !== null) lines.push(`    weights   ${numbersText(weights)}`);
    for (const [name, values] of Object.entries(state)) {
      lines.push(`    ${name.padEnd(9)} ${typeof values === 'bigint' ? values : numbersText(values)}`);
    }
  }
  return lines;
}

/** Floats in the fewest digits that tell them apart from their neighbours. */
function numbersText(values: readonly number[]): string {
  return values.map(floatText).join(' ');
}

export function floatText(value: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}
