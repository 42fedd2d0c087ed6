/** @file A column of lists of a Parquet file as ids of a field, rows of a block at a time. */
import type { ColumnMetaData } from 'hyparquet';
import { LIMITS, overLimit } from '../../base/limits.js';
import { LISTS, LISTS_WORDS, RUNS_WORDS } from '../../memory/pages-layout.js';
import type { ParquetGroup } from '../files/parquet-groups.js';
import type { ColumnPages } from './column-pages.js';
import { type ColumnTools, ColumnValues, startRuns } from './column-values.js';
import type { DecodedColumn } from './decoder.js';
import { ENCODING } from './page-header.js';
import type { Room } from './page-memory.js';
import type { RowColumn } from './parquet-column.js';
import type { ColumnShape } from './parquet-shape.js';

const MAX_NOT_SAID = 2 ** 31 - 1;

export class ListColumn implements RowColumn {
  readonly #tools: ColumnTools;
  readonly #index: number;
  readonly #shape: ColumnShape;
  readonly #pages: ColumnPages;
  readonly #values: ColumnValues;
  readonly #repeats: number;
  readonly #presence: number;
  /** Levels that were read, of which some wait for the next block. */
  readonly #pendingRepeats: number;
  readonly #pendingLevels: number;
  readonly #lists: number;
  readonly #ids: Room;
  /** Levels of the page that were not read, and those that were and not used: from, to. */
  #left = 0;
  #pending: [from: number, to: number] = [0, 0];

  constructor(tools: ColumnTools, index: number, shape: ColumnShape, pages: ColumnPages) {
    const { memory } = tools;
    this.#tools = tools;
    this.#index = index;
    this.#shape = shape;
    this.#pages = pages;
    this.#values = new ColumnValues(tools, index, shape, pages);
    this.#repeats = memory.take(RUNS_WORDS * 4);
    this.#presence = memory.take(RUNS_WORDS * 4);
    this.#lists = memory.take(LISTS_WORDS * 4);
    this.#pendingRepeats = memory.take(tools.maker.decoder.blockRows * 4);
    this.#pendingLevels = memory.take(tools.maker.decoder.blockRows * 4);
    this.#ids = memory.room();
  }

  open(group: ParquetGroup, chunk: ColumnMetaData): void {
    this.#pages.open(group, chunk);
    this.#values.reset();
    this.#left = 0;
    this.#pending = [0, 0];
  }

  /** Rows go over the ends of pages: as many as are wanted. */
  ready(): number {
    return Number.POSITIVE_INFINITY;
  }

  take(rows: number): boolean {
    const { decoder } = this.#tools.maker;
    const { to } = decoder.place(this.#index);
    decoder.words[to / 4] = 0;
    decoder.words[this.#lists / 4 + LISTS.rows] = 0;
    decoder.words[this.#lists / 4 + LISTS.values] = 0;
    for (;;) {
      const found = this.#fetch();
      if (found === 'left') return false;
      if (found === 'end') break;
      const [from, until] = this.#pending;
      const before = decoder.words[this.#lists / 4 + LISTS.values]!;
      const used = decoder.kernels.readLists(
        ...[this.#pendingRepeats + 4 * from, this.#pendingLevels + 4 * from, until - from],
        ...([this.#shape.full, this.#lists, to, rows] as const),
      );
      if (used < 0) throw this.#pages.damaged('its levels are damaged');
      this.#pending[0] += used;
      if (!this.#append(before, decoder.words[this.#lists / 4 + LISTS.values]!)) return false;
      if (used < until - from) break;
    }
    const found = decoder.words[this.#lists / 4 + LISTS.rows]!;
    if (found < rows) throw this.#pages.damaged(`its pages end ${rows - found} rows early`);
    return this.#cut(rows);
  }

  columns(rows: number): DecodedColumn {
    const { decoder } = this.#tools.maker;
    const { buffer } = decoder.bytes;
    const splits = new Int32Array(buffer, decoder.place(this.#index).to, rows + 1);
    const values = new BigInt64Array(buffer, this.#ids.at, splits[rows]);
    return { feed: { kind: 'ragged', splits, values } };
  }

  /** Sees to it that there are levels to use. */
  #fetch(): 'ready' | 'end' | 'left' {
    if (this.#pending[0] < this.#pending[1]) return 'ready';
    while (this.#left === 0) {
      const page = this.#pages.next();
      if (page === undefined) return 'end';
      if (!this.#values.begin(page)) return 'left';
      const { kind, values, presenceEncoding, repeatEncoding } = page.header;
      if (kind === 'dictionary') continue;
      if (presenceEncoding !== ENCODING.runs || repeatEncoding !== ENCODING.runs) return 'left';
      this.#left = values;
      startRuns(this.#tools, this.#repeats, page.repeats, 1);
      startRuns(this.#tools, this.#presence, page.presence, 32 - Math.clz32(this.#shape.full));
    }
    const { decoder } = this.#tools.maker;
    const count = Math.min(this.#left, decoder.blockRows);
    const { kernels } = decoder;
    const found = Math.min(
      kernels.readRuns(this.#repeats, this.#pendingRepeats, count),
      kernels.readRuns(this.#presence, this.#pendingLevels, count),
    );
    if (found < count) throw this.#pages.damaged('its levels are cut off');
    this.#left -= count;
    this.#pending = [0, count];
    return 'ready';
  }

  /** Decodes the values from one number to another behind those that are there. */
  #append(from: number, to: number): boolean {
    if (from === to) return true;
    if (to > LIMITS.blockIds) throw this.#pages.damaged(`lists of ${overLimit('blockIds', to)}`);
    const ids = this.#tools.memory.grow(this.#ids, 8 * to);
    return this.#values.read(ids + 8 * from, to - from);
  }

  /** Leaves out the ids of a row behind as many as it may have; false where there are more than anyone means. */
  #cut(rows: number): boolean {
    const { decoder, cells } = this.#tools.maker;
    const { max } = cells[this.#index]!.words;
    const { buffer } = decoder.bytes;
    const splits = new Int32Array(buffer, decoder.place(this.#index).to, rows + 1);
    const ids = new BigInt64Array(buffer, this.#ids.at, splits[rows]);
    let [from, top] = [0, 0];
    for (let row = 1; row <= rows; row++) {
      const [begin, end] = [from, splits[row]!];
      from = end;
      if (end - begin > LIMITS.rowIds && max === MAX_NOT_SAID) return false;
      const kept = Math.min(end - begin, max);
      if (top !== begin) ids.copyWithin(top, begin, begin + kept);
      top += kept;
      splits[row] = top;
    }
    return true;
  }
}
