/** @file What a thread of ShardThreads does: writes or loads one shard after the other. */
import { nodeFileSystem } from '../../io/file-system.js';
import { TableMemory } from '../../runtime/table-memory.js';
import type { RowRange } from './shard-encoder.js';
import { type LoadedShard, loadShard } from './shard-loader.js';
import type { TableFilesData } from './shard-threads.js';
import { type WriteShardOptions, type WrittenShard, writeShard } from './shard-writer.js';
import { TableImage } from './stored-table.js';

export class TableFilesService {
  readonly #image: TableImage;

  constructor(data: TableFilesData) {
    this.#image = new TableImage({ ...data, memory: TableMemory.attach(data.memory) });
  }

  writeShard(range: RowRange, path: string, options: WriteShardOptions): Promise<WrittenShard> {
    return writeShard(this.#image, range, path, nodeFileSystem, options);
  }

  loadShard(file: string): Promise<LoadedShard> {
    return loadShard(this.#image, file, { load: true, blocking: true });
  }
}
