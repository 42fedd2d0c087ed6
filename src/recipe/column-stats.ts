/** @file What the cells of a column are like, counted over the first rows of the data. */
import { isMissing } from '../data/cells.js';

/** Values that are told apart; there are `more` from there on. */
const DISTINCT_MAX = 1 << 18;
/** Texts that people write where there is no number. */
export const USUAL_NULLS = ['?', 'NA', 'N/A', 'n/a', 'na', 'NaN', 'nan', 'null', 'NULL', 'None', 'none', '\\N', '-'];
const LIST_MARKS = ['|', ';', ','] as const;
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
  /** Cells by their text. */
  readonly counts = new Map<string, number>();
  #overflowed = false;

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
    else if (typeof cell === 'number' || typeof cell === 'bigint') this.#addNumber(Number(cell), String(cell));
    else if (typeof cell === 'boolean') this.bools++;
    else if (cell instanceof Date) this.dates++;
    else if (Array.isArray(cell) || ArrayBuffer.isView(cell)) {
      this.arrays++;
      this.partsMax = Math.max(this.partsMax, (cell as { length?: number }).length ?? 1);
      return;
    }
    this.#count(typeof cell === 'string' ? cell : String(cell));
  }

  /** Cells with something in them. */
  get present(): number {
    return this.rows - this.missing;
  }

  get distinct(): number {
    return this.counts.size;
  }

  /** Whether there are more values than were counted. */
  get overflowed(): boolean {
    return this.#overflowed;
  }

  get mean(): number {
    return this.numbers === 0 ? Number.NaN : this.#sum / this.numbers;
  }

  get deviation(): number {
    return Math.sqrt(Math.max(0, this.#squares / this.numbers - this.mean ** 2));
  }

  /** The most frequent values. */
  top(count: number): { readonly value: string; readonly share: number }[] {
    const found: [string, number][] = [];
    for (const entry of this.counts) {
      if (found.length === count && entry[1] <= found[count - 1]![1]) continue;
      found.push(entry);
      found.sort((a, b) => b[1] - a[1]);
      found.length = Math.min(count, found.length);
    }
    return found.map(([value, times]) => ({ value, share: times / Math.max(1, this.present) }));
  }

  #count(text: string): void {
    const known = this.counts.get(text);
    if (known !== undefined) this.counts.set(text, known + 1);
    else if (this.counts.size < DISTINCT_MAX) this.counts.set(text, 1);
    else this.#overflowed = true;
  }

  #addText(text: string): void {
    const first = text.charCodeAt(text.charCodeAt(0) === 32 ? 1 : 0);
    // Digits, signs and points: nothing else can begin a number.
    if ((first >= 48 && first <= 57) || first === 45 || first === 43 || first === 46) {
      const value = Number(text);
      if (!Number.isNaN(value)) {
        this.#addNumber(value, text);
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

  #addNumber(value: number, text: string): void {
    this.numbers++;
    if (Number.isInteger(value) && !/[.eE]/.test(text)) this.integers++;
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) this.big++;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    this.#sum += value;
    this.#squares += value * value;
  }
}
