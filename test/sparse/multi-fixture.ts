/** @file Tables and random requests that the tests of multi-table forms share. */
import fc from 'fast-check';
import { ConstantsInitializer } from '../../src/sparse/config/initializers.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable, type HashTableConfigInstance } from '../../src/sparse/config/table-config.js';
import type { EmbeddingTable } from '../../src/sparse/table/embedding-table.js';
import { ModelTable } from './model-table.js';

/** Dimensions by slot; names are not in the order they are declared in. */
export const DIMS = { slot1: 3, slot0: 1, other: 3 } as const;
export type Slot = keyof typeof DIMS;
export const SLOTS = Object.keys(DIMS) as Slot[];

/** Adagrad, so that two steps are not the same as one of the sum. */
export function adagradConfig(dim: number): HashTableConfigInstance {
  const segment = { dim, initializer: ConstantsInitializer(0.5), optimizer: AdagradOptimizer(), learningRate: 0.1 };
  return defineTable('', [segment]).instance;
}

export const modelTable = (name: string, dim: number): EmbeddingTable => new ModelTable(name, adagradConfig(dim));

/** A table per slot. */
export function modelTables(): Record<Slot, EmbeddingTable> {
  return Object.fromEntries(SLOTS.map((slot) => [slot, modelTable(slot, DIMS[slot])])) as Record<Slot, EmbeddingTable>;
}

const id = fc.oneof(fc.bigInt({ min: -4n, max: 6n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));

const update = (dim: number) =>
  fc
    .array(fc.record({ id, row: fc.array(fc.integer({ min: -8, max: 8 }), { minLength: dim, maxLength: dim }) }), {
      maxLength: 6,
    })
    .map((rows) => ({
      ids: BigInt64Array.from(rows, (row) => row.id),
      values: Float32Array.from(rows.flatMap(({ row }) => row)),
    }));

/** Ids and rows for some of the slots. */
/** Updates by slot in typed arrays. */
export type Updates = Readonly<Record<string, { readonly ids: BigInt64Array; readonly values: Float32Array }>>;

export const updates: fc.Arbitrary<Updates> = fc.record(
  { slot1: update(DIMS.slot1), slot0: update(DIMS.slot0), other: update(DIMS.other) },
  { requiredKeys: [] },
) as fc.Arbitrary<Updates>;

/** A copy, since gradients are scratch. */
export function copyOf(given: Updates): Updates {
  return Object.fromEntries(
    Object.entries(given).map(([slot, { ids, values }]) => [slot, { ids, values: values.slice() }]),
  );
}

export const idsOf = (given: Updates) =>
  Object.fromEntries(Object.entries(given).map(([slot, { ids }]) => [slot, ids]));
export const valuesOf = (given: Updates) =>
  Object.fromEntries(Object.entries(given).map(([slot, { values }]) => [slot, values.slice()]));

/** Rows by slot as plain lists. */
export const plain = (rows: Readonly<Record<string, Float32Array>>) =>
  Object.fromEntries(Object.entries(rows).map(([slot, values]) => [slot, [...values]]));
