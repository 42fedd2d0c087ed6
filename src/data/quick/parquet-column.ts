/** @file A column of a Parquet file as the values of a field, rows of a block at a time. */
import type { ColumnMetaData } from 'hyparquet';
import { CELL, CELL_KIND } from '../../memory/decode-layout.js';
import { RUNS_WORDS } from '../../memory/pages-layout.js';
import { MISSING_ID } from '../cells.js';
import { textId } from '../farmhash.js';
import type { ParquetGroup } from '../files/parquet-groups.js';
import { CELL_BYTES_OF } from './cell-plans.js';
import type { ColumnPages } from './column-pages.js';
import { type ColumnTools, ColumnValues, startRuns } from './column-values.js';
import type { DecodedColumn } from './decoder.js';
import { ENCODING } from './page-header.js';
import type { ColumnShape } from './parquet-shape.js';
import { rawValue } from './raw-value.js';

/** What a split by a column takes for a cell without a value. */
const NULL_KEY = textId(String(null));

/** A column that rows of a block are taken from. */
export interface RowColumn {
  open(group: ParquetGroup, chunk: ColumnMetaData): void;
  /** How many rows may be taken now; 0 where they have to be read as rows. */
  ready(): number;
  /** Decodes the next rows, of which there are some; false where one of them has to be read as a row. */
  take(rows: number): boolean;
  columns(rows: number): DecodedColumn;
}

/** A column of one value for each row, or none. */
export class FlatColumn implements RowColumn {
  readonly #tools: ColumnTools;
  readonly #index: number;
  readonly #shape: ColumnShape;
  readonly #pages: ColumnPages;
  readonly #values: ColumnValues;
  readonly #presence: number;
  /** In place of a value; 0 where a row without one is left. */
  readonly #missing: number;
  /** Rows of the page, and of the group, that were not taken. */
  #left = 0;
  #groupLeft = 0;

  constructor(tools: ColumnTools, index: number, shape: ColumnShape, pages: ColumnPages) {
    this.#tools = tools;
    this.#index = index;
    this.#shape = shape;
    this.#pages = pages;
    this.#values = new ColumnValues(tools, index, shape, pages);
    this.#presence = tools.memory.take(RUNS_WORDS * 4);
    this.#missing = this.#missingValue();
  }

  open(group: ParquetGroup, chunk: ColumnMetaData): void {
    this.#pages.open(group, chunk);
    this.#values.reset();
    this.#left = 0;
    this.#groupLeft = group.rows;
  }

  ready(): number {
    while (this.#left === 0) {
      const page = this.#pages.next();
      if (page === undefined) throw this.#pages.damaged(`its pages end ${this.#groupLeft} rows early`);
      if (!this.#values.begin(page)) return 0;
      const { kind, values, presenceEncoding } = page.header;
      if (kind === 'dictionary') continue;
      if (this.#shape.full > 0 && presenceEncoding !== ENCODING.runs) return 0;
      if (values > this.#groupLeft) {
        throw this.#pages.damaged(`a page of ${values} rows where ${this.#groupLeft} are left`);
      }
      this.#left = values;
      if (this.#shape.full > 0) startRuns(this.#tools, this.#presence, page.presence, 1);
    }
    return this.#left;
  }

  take(rows: number): boolean {
    const { mask, values } = this.#tools.scratch;
    const { decoder, cells } = this.#tools.maker;
    const { kernels } = decoder;
    const present = this.#shape.full === 0 ? rows : kernels.readPresence(this.#presence, mask, rows);
    if (present < 0) throw this.#pages.damaged('its levels are damaged');
    this.#left -= rows;
    this.#groupLeft -= rows;
    if (present === 0) decoder.words.fill(0, mask / 4, mask / 4 + rows);
    const { kind } = cells[this.#index]!.words;
    const isWhole = present === rows;
    if (kind === CELL_KIND.ids) return this.#takeIds(rows, present);
    const { to } = decoder.place(this.#index);
    if (isWhole) return this.#values.read(to, rows);
    if (this.#missing === 0 || !this.#values.read(values, present)) return false;
    const spread = CELL_BYTES_OF[kind] === 'f32' ? kernels.spread32 : kernels.spread64;
    spread(values, mask, to, rows, this.#missing);
    return true;
  }

  columns(rows: number): DecodedColumn {
    return this.#tools.maker.decoder.columns(this.#index, rows);
  }

  #takeIds(rows: number, present: number): boolean {
    const { decoder } = this.#tools.maker;
    if (this.#values.isParted) return this.#takeParted(rows, present);
    const { to, values } = decoder.place(this.#index);
    if (!this.#values.read(values, present)) return false;
    const [splits, mask] = [to / 4, this.#tools.scratch.mask / 4];
    const { words } = decoder;
    words[splits] = 0;
    for (let row = 0; row < rows; row++) {
      words[splits + row + 1] = words[splits + row]! + (present === rows ? 1 : words[mask + row]!);
    }
    return true;
  }

  /** Texts that hold many ids. */
  #takeParted(rows: number, present: number): boolean {
    const { mask, texts } = this.#tools.scratch;
    const { decoder } = this.#tools.maker;
    const { field } = this.#values;
    const { to, values } = decoder.place(this.#index);
    this.#values.addresses(texts, present);
    decoder.words[field / 4 + CELL.to] = to;
    decoder.words[field / 4 + CELL.values] = values;
    let used = 0;
    for (let row = 0; ; row++) {
      const first = row;
      const some = present === rows ? 0 : mask;
      row = decoder.kernels.readTexts(decoder.plan, field, some, texts + 4 * used, first, rows);
      for (let n = first; n < row; n++) used += some === 0 ? 1 : decoder.words[mask / 4 + n]!;
      if (row === rows) return true;
      const isThere = some === 0 || decoder.words[mask / 4 + row] === 1;
      if (!isThere || !this.#putList(row, decoder.words[texts / 4 + used]!)) return false;
      used++;
    }
  }

  /** Encodes a row whose text was left; false where it cannot be, or there is no room. */
  #putList(row: number, at: number): boolean {
    const { maker } = this.#tools;
    const { decoder } = maker;
    const { to, values, weights } = decoder.place(this.#index);
    const { capacity, perRow } = maker.cells[this.#index]!.words;
    const [ids, weighed] = maker.encode(this.#index, rawValue(decoder.bytes, at, this.#shape.form)) ?? [];
    const { buffer } = decoder.bytes;
    const first = decoder.words[to / 4 + row]!;
    if (ids?.kind !== 'ragged' || first + ids.values.length > capacity) return false;
    new BigInt64Array(buffer, values, capacity).set(ids.values, first);
    decoder.words[to / 4 + row + 1] = first + ids.values.length;
    if (weighed?.kind === 'dense') new Float32Array(buffer, weights + row * perRow * 4, perRow).set(weighed.values);
    return true;
  }

  #missingValue(): number {
    const { maker, memory } = this.#tools;
    const { words, missing } = maker.cells[this.#index]!;
    const at = memory.take(8);
    const { buffer } = maker.decoder.bytes;
    if (words.kind === CELL_KIND.id || words.kind === CELL_KIND.hash) {
      new BigInt64Array(buffer, at, 1)[0] = words.kind === CELL_KIND.id ? MISSING_ID : NULL_KEY;
    } else if (words.kind === CELL_KIND.double) new Float64Array(buffer, at, 1)[0] = Number.NaN;
    else if (words.kind === CELL_KIND.float && missing !== undefined) new Float32Array(buffer, at, 1)[0] = missing;
    else return 0;
    return at;
  }
}
