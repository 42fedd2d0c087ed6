/**
 * @file Tables by name, in the order of their names: the order in which everything flat about several tables is laid
 * out.
 */
import { MonolithError } from '../../base/errors.js';
import type { EmbeddingTable } from '../table/embedding-table.js';

export class NamedTables {
  /** Sorted. */
  readonly names: readonly string[];
  /** In the order of `names`. */
  readonly tables: readonly EmbeddingTable[];
  readonly #byName: ReadonlyMap<string, EmbeddingTable>;

  constructor(tables: Readonly<Record<string, EmbeddingTable>>) {
    const entries = Object.entries(tables).sort(([a], [b]) => (a < b ? -1 : 1));
    this.names = entries.map(([name]) => name);
    this.tables = entries.map(([, table]) => table);
    this.#byName = new Map(entries);
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** ML_TABLE_UNKNOWN unless there is one of this name. */
  get(name: string): EmbeddingTable {
    const table = this.#byName.get(name);
    if (table === undefined) throw unknownTable(name, this.names);
    return table;
  }

  /** Rates that an update of all tables consumes. */
  get sliceSize(): number {
    return this.tables.reduce((sum, table) => sum + table.sliceSize, 0);
  }
}

/** Each table's share of rates that come one after the other, in the order of the tables; nothing without rates. */
export function ratesPerTable(
  tables: readonly EmbeddingTable[],
  learningRates: ArrayLike<number> | undefined,
): readonly { readonly learningRates?: Float32Array }[] {
  if (learningRates === undefined) return tables.map(() => ({}));
  const all = Float32Array.from(learningRates);
  let from = 0;
  return tables.map(({ sliceSize }) => {
    from += sliceSize;
    if (from > all.length) {
      throw new MonolithError('ML_MULTI_SHORT', { tensor: 'learning_rate', size: all.length });
    }
    return { learningRates: all.subarray(from - sliceSize, from) };
  });
}

/** The error of a slot or table that is none of `known`. */
export function unknownTable(table: string, known: readonly string[]): MonolithError {
  return new MonolithError('ML_TABLE_UNKNOWN', { table, reason: `there are ${known.join(', ')}` });
}
