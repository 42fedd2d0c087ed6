/**
 * @file Rows that come as columns, as those of a demo do: encoded without an object of each row, and a text that comes
 * again is looked up by its number.
 */
import { MonolithError } from '../base/errors.js';
import { freshIdOf } from '../data/cells.js';
import { columnOf, encodeFeature } from '../data/encode-rows.js';
import type { Column } from '../data/row-table.js';
import type { PartialBatchData } from '../memory/batch.js';
import { withFlags } from './encode-blocks.js';
import type { RecipeSchemas } from './recipe-schema.js';

/** Numbers, or texts by their places in a list, which stays as long as it is and may have holes. */
export type ColumnValues =
  | { readonly numbers: Float64Array }
  | { readonly places: Uint32Array; readonly texts: readonly string[] };

/** Where rows can be asked for as columns. */
export interface ColumnSource {
  readonly rows: number;
  /** The columns of `count` rows from `first` on. */
  columns(first: number, count: number): Readonly<Record<string, ColumnValues>>;
}

/** The rows of `source` as feeds in blocks of `size`. */
export function* columnBlocks(
  source: ColumnSource,
  { own, all }: RecipeSchemas,
  size: number,
): Generator<PartialBatchData> {
  const ids = new Map<string, KnownIds>();
  for (let first = 0; first < source.rows; first += size) {
    const rows = Math.min(size, source.rows - first);
    const given = source.columns(first, rows);
    const feeds = new Map<string, PartialBatchData['feeds'][number]>();
    for (const [name, feature] of Object.entries(own.features)) {
      const from = columnOf(name, feature);
      const values = given[from]!;
      if ('texts' in values && feature.field?.role === 'id' && feature.field.map === undefined) {
        const known = ids.get(from) ?? new KnownIds(values.texts);
        ids.set(from, known);
        feeds.set(name, { kind: 'ids', values: known.of(values.places) });
        continue;
      }
      const column = (other: string): Column => columnFrom(other, given[other]!, rows, first);
      for (const [feed, data] of encodeFeature(name, feature, column(from), column)) feeds.set(feed, data);
    }
    yield { rows, feeds: all.specs.map((spec) => feeds.get(spec.name)) };
  }
}

/** The ids of texts by their places: each is made once. */
class KnownIds {
  readonly #texts: readonly string[];
  readonly #ids: BigInt64Array;
  readonly #there: Uint8Array;

  constructor(texts: readonly string[]) {
    this.#texts = texts;
    this.#ids = new BigInt64Array(texts.length);
    this.#there = new Uint8Array(texts.length);
  }

  of(places: Uint32Array): BigInt64Array {
    const ids = new BigInt64Array(places.length);
    for (let row = 0; row < places.length; row++) {
      const place = places[row]!;
      if (this.#there[place] === 0) {
        this.#ids[place] = freshIdOf(this.#texts[place]!);
        this.#there[place] = 1;
      }
      ids[row] = this.#ids[place]!;
    }
    return ids;
  }
}

function columnFrom(name: string, values: ColumnValues, rows: number, first: number): Column {
  const cell =
    'texts' in values ? (row: number) => values.texts[values.places[row]!] : (row: number) => values.numbers[row];
  return {
    ...{ name, absent: false, rows, cell },
    refuse: (at) => (reason, hint) => {
      const row = first + at;
      const fields = { where: `row ${row}`, row, column: name, reason };
      return withFlags(new MonolithError('ML_DATA', fields, hint === undefined ? {} : { hint }));
    },
  };
}
