/** @file What a thread of BankRows does: looks rows up and steps them, in tables of memories of their own. */
import type { OptimizeOptions } from '../table/embedding-table.js';
import { HashTable, type HashTableHandle } from '../table/hash-table.js';

/**
 * Something of the memory of the session, which both threads share. A view of more than 2 GiB does not survive
 * `postMessage`, and who waits for the answer is not told: so an array goes as where it lies.
 */
export interface SharedArray {
  readonly byteOffset: number;
  readonly length: number;
}

/** Rows that are asked for. */
export interface AskedRows {
  /** Index of the table. */
  readonly table: number;
  readonly ids: SharedArray;
  readonly rows: SharedArray;
}

/** Gradients of ids, each of which comes once. */
export interface GivenGradients extends Omit<AskedRows, 'rows'> {
  readonly gradients: SharedArray;
  readonly globalStep: number;
  readonly learningRates: readonly number[];
  readonly timeSec: number | undefined;
}

export class BankRowsService {
  readonly #tables: readonly HashTable[];

  constructor(tables: readonly HashTableHandle[]) {
    this.#tables = tables.map((handle) => HashTable.attach(handle));
  }

  lookup(buffer: ArrayBufferLike, asked: readonly AskedRows[]): void {
    for (const { table, ids, rows } of asked) {
      this.#tables[table]!.lookup(idsOf(buffer, ids), floatsOf(buffer, rows));
    }
  }

  optimize(buffer: ArrayBufferLike, given: readonly GivenGradients[]): void {
    for (const { table: index, ids, gradients, timeSec, globalStep, learningRates } of given) {
      const table = this.#tables[index]!;
      // Rows of a batch without a time are as of the latest update of their table, as in steps of a session.
      const options: OptimizeOptions = { globalStep, learningRates, timeSec: timeSec ?? table.maxUpdateSec };
      table.optimize(idsOf(buffer, ids), floatsOf(buffer, gradients), options);
    }
  }
}

function idsOf(buffer: ArrayBufferLike, { byteOffset, length }: SharedArray): BigInt64Array {
  return new BigInt64Array(buffer, byteOffset, length);
}

function floatsOf(buffer: ArrayBufferLike, { byteOffset, length }: SharedArray): Float32Array {
  return new Float32Array(buffer, byteOffset, length);
}
