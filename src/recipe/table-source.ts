/** @file Rows of an encoded table as batches: shuffled anew in each pass for training, as they stand for the rest. */
import { hashU32 } from '../base/random.js';
import type { BatchMaker } from '../data/batch-pass.js';
import type { BatchInput, BatchSource } from '../data/batch-source.js';
import { MadeSource } from '../data/made-source.js';
import type { EncodedTable } from './encoded-table.js';

/** Rows that stand still: their batches are made once and stay in the memory of the session where they fit. */
export function heldOutSource(table: EncodedTable, indices: Uint32Array): BatchSource<never> {
  return new MadeSource<never>(({ batchSize }) => makerOf(table, () => indices, batchSize, true), { counted: true });
}

/** Rows in an order that is drawn anew for each pass. */
export function trainSource(table: EncodedTable, indices: Uint32Array, seed: number): BatchSource<never> {
  const source = new MadeSource<never>(({ batchSize }) =>
    makerOf(table, (pass) => shuffled(indices, seed, pass), batchSize, false),
  );
  return {
    async open(session, options): Promise<BatchInput<never>> {
      const input = await source.open(session, options);
      return Object.assign(input, { batchCount: Math.ceil(indices.length / options.batchSize) });
    },
  };
}

function makerOf(
  table: EncodedTable,
  order: (pass: number) => Uint32Array,
  batchSize: number,
  isSame: boolean,
): BatchMaker<never> {
  return {
    once: false,
    pass: (number) => {
      const indices = order(number);
      let at = 0;
      return {
        next: () => {
          if (at >= indices.length) return undefined;
          const some = indices.subarray(at, at + batchSize);
          at += some.length;
          return { data: table.gather(some) };
        },
        skip: (batches) => {
          at += batches * batchSize;
        },
      };
    },
    ...(isSame && { batchCount: Math.ceil(order(0).length / batchSize) }),
  };
}

/** The indices in another order, which the seed and the number of the pass decide. */
export function shuffled(indices: Uint32Array, seed: number, pass: number): Uint32Array {
  const order = indices.slice();
  for (let end = order.length - 1; end > 0; end--) {
    const other = hashU32(seed, pass, end) % (end + 1);
    const value = order[end]!;
    order[end] = order[other]!;
    order[other] = value;
  }
  return order;
}
