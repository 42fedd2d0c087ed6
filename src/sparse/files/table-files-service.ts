/** @file What a thread of ShardThreads does: writes or loads one shard after the other. */

import type { RowRange } from '../../io/shard-files.js';
import type { TableMemoryHandle } from '../../runtime/tables/table-banks.js';
import { TableMemory } from '../../runtime/tables/table-memory.js';
import type { LoadedShard } from './shard-loader.js';
import type { WriteShardOptions, WrittenShard } from './shard-writer.js';
import { type StoredTable, TableImage } from './stored-table.js';

/** A table for another thread; survives `postMessage`. */
export interface TableFilesData extends Omit<StoredTable, 'memory'> {
  readonly memory: TableMemoryHandle;
}

export class TableFilesService {
  readonly #image: TableImage;

  constructor(data: TableFilesData) {
    this.#image = new TableImage({ ...data, memory: TableMemory.attach(data.memory) });
  }

  // A thread either saves or restores, and starting it is a good part of its work: it loads only what that takes.
  async writeShard(range: RowRange, path: string, options: WriteShardOptions): Promise<WrittenShard> {
    const [{ writeShard }, { nodeFileSystem }] = await Promise.all([
      import('./shard-writer.js'),
      import('../../base/files/file-system.js'),
    ]);
    return writeShard(this.#image, range, path, nodeFileSystem, options);
  }

  async loadShard(file: string): Promise<LoadedShard> {
    const { loadShard } = await import('./shard-loader.js');
    return loadShard(this.#image, file, { load: true, blocking: true });
  }
}
