/**
 * @file The native multi table: ids of all tables as one ragged tensor, values and gradients as one flat vector.
 *
 * Mirrors native_training/multi_hash_table_ops. Row i of the ids belongs to table i in the order of the names; the
 * floats of a table are its rows one after the other, those of the next table follow. What does not fit is refused
 * before a table is touched.
 */

import { MonolithError } from '../../base/errors.js';
import type { Ids } from '../../memory/given-arrays.js';
import type { TableMemory } from '../../runtime/tables/table-memory.js';
import { RaggedTensor } from '../../tensor/ragged-tensor.js';
import { Tensor } from '../../tensor/tensor.js';
import { sharedName } from '../config/shared-name.js';
import type { HashTableConfigInstance, TableConfig } from '../config/table-config.js';
import { claimName } from '../config/table-names.js';
import { restoreMultiTable, saveMultiTable } from '../files/on-demand.js';
import type { RestoredMultiTable } from '../files/restore-multi-table.js';
import type { NamedTable, SavedMultiTable, SaveMultiTableOptions } from '../files/save-multi-table.js';
import type { EmbeddingTable, OptimizeOptions, UpdateOptions } from '../table/embedding-table.js';
import { HashTable } from '../table/hash-table.js';
import { idList } from '../table/table-checks.js';
import type { TableOptions } from '../table/table-options.js';
import { MultiTypeHashTable, type SlotIds, type SlotRows, tablesOf } from './multi-type-hash-table.js';
import { ratesPerTable } from './named-tables.js';

/** Ids of one table in one request, and its part of the flat floats. */
interface Cell {
  readonly table: EmbeddingTable;
  readonly index: number;
  readonly ids: BigInt64Array;
  readonly from: number;
  readonly to: number;
}

export interface MultiHashTableOptions extends TableOptions {
  /** Its shared name is `MonolithMultiHashTable_<nameSuffix>`, which a memory has once. Default: empty. */
  readonly nameSuffix?: string;
}

/** Several tables under one roof, called together. */
export class MultiHashTable extends MultiTypeHashTable {
  /** What files and servers know it by. */
  readonly name: string;

  constructor(tables: Readonly<Record<string, EmbeddingTable>>, name = '') {
    super(tables);
    this.name = name;
  }

  static override fromConfigs<C>(
    configs: Readonly<Record<string, C>>,
    factory: (name: string, config: C) => EmbeddingTable,
    name?: string,
  ): MultiHashTable {
    return new MultiHashTable(tablesOf(configs, factory), name);
  }

  /**
   * Tables of `configs` in one memory; of a table config only what it is made of counts, the name is the slot's.
   * ML_TABLE_NAME when the memory has a multi table of this suffix.
   */
  static create(
    memory: TableMemory,
    configs: Readonly<Record<string, HashTableConfigInstance | TableConfig>>,
    { nameSuffix = '', ...options }: MultiHashTableOptions = {},
  ): MultiHashTable {
    const name = sharedName('multiHashTable', nameSuffix);
    claimName(memory, name);
    const make = (slot: string, config: HashTableConfigInstance | TableConfig) => {
      const instance = 'instance' in config ? config.instance : config;
      return HashTable.create(memory, { name: `${name}/${slot}`, instance }, options);
    };
    return MultiHashTable.fromConfigs(configs, make, name);
  }

  /**
   * Embeddings of k requests, request by request. With k > 1 the ids have k rows per table: row r * T + i holds what
   * request r wants of table i.
   */
  rawLookup(ids: RaggedTensor): Float32Array {
    const cells = this.#cellsOfRequests(ids);
    const out = new Float32Array(cells.at(-1)?.to ?? 0);
    for (const { table, ids, from, to } of cells) table.lookup(ids, out.subarray(from, to));
    return out;
  }

  /** Serialized entries in the order of the ids; see `EmbeddingTable.lookupEntry`. */
  rawLookupEntry(ids: RaggedTensor): Uint8Array[] {
    return this.#cellsOfRequests(ids).flatMap(({ table, ids }) => table.lookupEntry(ids));
  }

  rawAssign(ids: RaggedTensor, values: Float32Array, options?: UpdateOptions): void {
    for (const cell of this.#cellsOfUpdate(ids, values)) {
      cell.table.assign(cell.ids, values.subarray(cell.from, cell.to), options);
    }
  }

  rawAssignAdd(ids: RaggedTensor, values: Float32Array, options?: UpdateOptions): void {
    for (const cell of this.#cellsOfUpdate(ids, values)) {
      cell.table.assignAdd(cell.ids, values.subarray(cell.from, cell.to), options);
    }
  }

  /** `learningRates`, when given, are those of all tables in the order of their names. The gradients are scratch. */
  rawApplyGradients(
    ids: RaggedTensor,
    gradients: Float32Array,
    { learningRates, ...options }: OptimizeOptions = {},
  ): void {
    const cells = this.#cellsOfUpdate(ids, gradients);
    const rates = ratesPerTable(this.tables.tables, learningRates);
    for (const { table, index, ids, from, to } of cells) {
      table.optimize(ids, gradients.subarray(from, to), { ...options, ...rates[index] });
    }
  }

  /** 1 for each id that had a row, else 0; -1 for every id when there is no table of this name. */
  override reinitialize(slot: string, ids: Ids): Int32Array {
    return this.tables.has(slot) ? super.reinitialize(slot, ids) : new Int32Array(idList(slot, ids).length).fill(-1);
  }

  /** The ragged ids of slots, with an empty row for each table that is left out. */
  getRaggedId(slotToIds: SlotIds): RaggedTensor {
    for (const slot of Object.keys(slotToIds)) this.tables.get(slot);
    const rows = this.tables.names.map((name) => [...idList(name, slotToIds[name] ?? [])]);
    return RaggedTensor.fromRows('int64', rows);
  }

  /** Flat embeddings of one request by slot. */
  getEmbeddings(ids: RaggedTensor, embeddings: Float32Array): SlotRows {
    const cells = this.#cellsOfUpdate(ids, embeddings);
    return Object.fromEntries(
      cells.map(({ index, from, to }) => [this.tables.names[index]!, embeddings.subarray(from, to)]),
    );
  }

  /**
   * Writes all tables as `<base>-i-of-n` and `<base>.meta-i-of-n`. Rows expire by the days of the first table, in the
   * order of their names, that has any.
   */
  async save(base: string, options?: SaveMultiTableOptions): Promise<SavedMultiTable> {
    return saveMultiTable(this.#stored(), base, options);
  }

  /** Puts the rows of the files over what is there, for those tables that the files have. */
  async restore(base: string): Promise<RestoredMultiTable> {
    return restoreMultiTable(this.#stored(), base);
  }

  #stored(): NamedTable[] {
    return this.tables.tables.map((table, i) => {
      const name = this.tables.names[i]!;
      if (table instanceof HashTable) return { name, table };
      const reason = 'files are made of hash tables that lie in a memory of this process';
      throw new MonolithError('ML_UNSUPPORTED', { what: `saving table ${name}`, reason });
    });
  }

  #cellsOfRequests(ids: RaggedTensor): Cell[] {
    const tables = this.tables.tables.length;
    if (tables === 0 || ids.rowCount === 0 || ids.rowCount % tables !== 0) {
      throw new MonolithError('ML_MULTI_SPLITS', { tables, size: ids.rowSplits.size });
    }
    return this.#cells(ids);
  }

  /** Cells of one request, whose floats must be there. */
  #cellsOfUpdate(ids: RaggedTensor, values: Float32Array): Cell[] {
    const tables = this.tables.tables.length;
    if (ids.rowCount !== tables) {
      throw new MonolithError('ML_MULTI_LENGTH', { tensor: 'id', found: ids.rowCount, tables });
    }
    const cells = this.#cells(ids);
    if ((cells.at(-1)?.to ?? 0) > values.length) {
      throw new MonolithError('ML_MULTI_SHORT', { tensor: 'value', size: values.length });
    }
    return cells;
  }

  #cells(ids: RaggedTensor): Cell[] {
    const { values } = ids;
    if (!(values instanceof Tensor) || values.dtype !== 'int64') throw new MonolithError('ML_RAGGED_INVALID');
    const data = values.data as BigInt64Array;
    let from = 0;
    return Array.from({ length: ids.rowCount }, (_, row) => {
      const index = row % this.tables.tables.length;
      const table = this.tables.tables[index]!;
      const part = data.subarray(ids.splitAt(row), ids.splitAt(row + 1));
      from += part.length * table.dim;
      return { table, index, ids: part, from: from - part.length * table.dim, to: from };
    });
  }
}
