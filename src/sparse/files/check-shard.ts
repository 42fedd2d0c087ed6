/** @file Checks files of rows without a table: in a small memory of its own, where nothing is kept. */
import { type DumpSegment, stateCountOf, weightCountOf } from '../../io/optimizer-dump.js';
import { TABLE, TABLE_FLAG, tableBytes } from '../../memory/table-layout.js';
import { TableMemory } from '../../runtime/tables/table-memory.js';
import { BankScratch } from './bank-scratch.js';
import { type LoadedShard, loadShard } from './shard-loader.js';
import { TableImage } from './stored-table.js';

/** Address space for read buffers and columns of the largest rows there can be; little of it is ever touched. */
const MEMORY_BYTES = 64 << 20;

let memory: Promise<TableMemory> | undefined;

/** What rows are checked to be rows of. */
export interface RowShape {
  /** Of the table, for errors. */
  readonly name: string;
  readonly segments: readonly DumpSegment[];
  readonly isServing?: boolean;
}

/** Reads a file of rows to its end; errors as of a restore into such a table. */
export async function checkShard({ name, segments, isServing }: RowShape, file: string): Promise<LoadedShard> {
  memory ??= TableMemory.create({ budgetBytes: MEMORY_BYTES });
  const bank = (await memory).banks[0]!;
  const scratch = new BankScratch(bank);
  try {
    const address = scratch.alloc(tableBytes(0));
    const [dim, stateFloats] = [weightCountOf(segments), stateCountOf(segments)];
    const words = bank.views.u32.subarray(address / 4);
    words[TABLE.dim] = dim;
    words[TABLE.stateFloats] = stateFloats;
    words[TABLE.flags] = isServing ? TABLE_FLAG.serving : 0;
    words[TABLE.rowBytes] = Math.ceil((dim + stateFloats) / 4) * 16;
    const table = {
      ...{ name, memory: await memory, addresses: [address] },
      ...{ dumpSegments: segments, skipZero: false, expireDays: null },
    };
    return await loadShard(new TableImage(table), file, { load: false });
  } finally {
    scratch.free();
  }
}
