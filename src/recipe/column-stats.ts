/** @file What the cells of a column are like, counted over the first rows of the data. */
import { isMissing } from '../data/cells.js';
import { ValueCounts } from './value-counts.js';

/** Texts that people write where there is no number. */
export const USUAL_NULLS = ['?', 'NA', 'N/A', 'n/a', 'na', 'NaN', 'nan', 'null', 'NULL', 'None', 'none', '\\N', '-'];
const LIST_MARKS = ['|', ';', ','] as const;
/** From here on a number is written with an exponent. */
const EXPONENT_FROM = 1e21;
const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?$/;

export class ColumnStats {
  readonly name: string;
  rows = 0;
  missing = 0;
  numbers = 0;
  integers = 0;
  bools = 0;
  dates = 0;
  /** Arrays, and texts with a mark between parts, by the mark. */
  arrays = 0;
  readonly marks: Record<(typeof LIST_MARKS)[number], number> = { '|': 0, ';': 0, ',': 0 };
  /** Most parts of a cell. */
  partsMax = 1;
  /** Cells that are usual texts for a missing number. */
  nulls = 0;
  readonly nullTexts = new Set<string>();
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  /** Whole numbers that a float cannot tell apart. */
  big = 0;
  spaces = 0;
  #sum = 0;
  #squares = 0;
  readonly #values = new ValueCounts();

  constructor(name: string) {
    this.name = name;
  }

  add(cell: unknown): void {
    this.rows++;
    if (isMissing(cell)) {
      this.missing++;
      return;
    }
    if (typeof cell === 'string') this.#addText(cell);
    else if (typeof cell === 'number') this.#addNumber(cell, Math.abs(cell) < EXPONENT_FROM);
    else if (typeof cell === 'bigint') this.#addNumber(Number(cell), true);
    else if (typeof cell === 'boolean') this.bools++;
    else if (cell instanceof Date) this.dates++;
    else if (Array.isArray(cell) || ArrayBuffer.isView(cell)) {
      this.arrays++;
      this.partsMax = Math.max(this.partsMax, (cell as { length?: number }).length ?? 1);
      return;
    }
    this.#values.add(cell);
  }

  /** Cells with something in them. */
  get present(): number {
    return this.rows - this.missing;
  }

  get distinct(): number {
    return this.#values.distinct;
  }

  /** Whether there are more values than were counted. */
  get overflowed(): boolean {
    return this.#values.overflowed;
  }

  get mean(): number {
    return this.numbers === 0 ? Number.NaN : this.#sum / this.numbers;
  }

  get deviation(): number {
    return Math.sqrt(Math.max(0, this.#squares / this.numbers - this.mean ** 2));
  }

  /** Cells by their value: by numbers where there are numbers alone, otherwise by texts. */
  get counts(): ReadonlyMap<string | number, number> {
    return this.#values.counts;
  }

  /** All values, by their texts. */
  values(): string[] {
    return this.#values.values();
  }

  /** The most frequent values. */
  top(count: number): { readonly value: string; readonly share: number }[] {
    return this.#values.top(count).map(([value, times]) => ({ value, share: times / Math.max(1, this.present) }));
  }

  #addText(text: string): void {
    const first = text.charCodeAt(text.charCodeAt(0) === 32 ? 1 : 0);
    // Digits, signs and points: nothing else can begin a number.
    if ((first >= 48 && first <= 57) || first === 45 || first === 43 || first === 46) {
      const value = Number(text);
      if (!Number.isNaN(value)) {
        this.#addNumber(value, !/[.eE]/.test(text));
        return;
      }
      if (ISO.test(text.trim())) this.dates++;
    }
    const trimmed = text.trim();
    if (USUAL_NULLS.includes(trimmed)) {
      this.nulls++;
      this.nullTexts.add(text);
    } else if (/^(?:true|false)$/i.test(trimmed)) this.bools++;
    for (const mark of LIST_MARKS) {
      if (!text.includes(mark)) continue;
      this.marks[mark]++;
      this.partsMax = Math.max(this.partsMax, text.split(mark).length);
    }
    if (trimmed.includes(' ')) this.spaces++;
  }

  #addNumber(value: number, inDigits: boolean): void {
    this.numbers++;
    if (inDigits && Number.isInteger(value)) this.integers++;
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) this.big++;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    this.#sum += value;
    this.#squares += value * value;
  }
}
