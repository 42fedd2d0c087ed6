/** @file Checks files of rows without a table: in a small memory of its own, where nothing is kept. */
import { type DumpSegment, stateCountOf, weightCountOf } from '../../io/optimizer-dump.js';
import { TABLE, tableBytes } from '../../memory/table-layout.js';
import { TableMemory } from '../../runtime/table-memory.js';
import { BankScratch } from './bank-scratch.js';
import { type LoadedShard, loadShard } from './shard-loader.js';
import { TableImage } from './stored-table.js';

/** Address space for read buffers and columns of the largest rows there can be; little of it is ever touched. */
const MEMORY_BYTES = 64 << 20;

let memory: Promise<TableMemory> | undefined;

/** Reads a file of rows of `segments` to its end; errors as of a restore into a table called `name`. */
export async function checkShard(name: string, segments: readonly DumpSegment[], file: string): Promise<LoadedShard> {
  memory ??= TableMemory.create({ budgetBytes: MEMORY_BYTES });
  const bank = (await memory).banks[0]!;
  const scratch = new BankScratch(bank);
  try {
    const address = scratch.alloc(tableBytes(0));
    const [dim, stateFloats] = [weightCountOf(segments), stateCountOf(segments)];
    const words = bank.views.u32.subarray(address / 4);
    words[TABLE.dim] = dim;
    words[TABLE.stateFloats] = stateFloats;
    words[TABLE.rowBytes] = Math.ceil((dim + stateFloats) / 4) * 16;
    const table = {
      ...{ name, memory: await memory, addresses: [address] },
      ...{ dumpSegments: segments, skipZero: false, expireDays: null },
    };
    return await loadShard(new TableImage(table), file, false);
  } finally {
    scratch.free();
  }
}
