/**
 * @file Threads that save or load shards of a table at the same time, each over the same memories.
 *
 * Small tables, and callers that ask for one thread, stay on the calling thread: starting threads costs more than a
 * small table does, and between buffers the calling thread is free anyway.
 */
import { availableParallelism } from 'node:os';
import type { RowRange } from '../../io/shard-files.js';
import { ServiceThread } from '../../runtime/pool/service-thread.js';
import type { LoadedShard } from './shard-loader.js';
import type { WriteShardOptions, WrittenShard } from './shard-writer.js';
import type { TableImage } from './stored-table.js';
import type { TableFilesData, TableFilesService } from './table-files-service.js';

/** Below this many rows one thread is as fast: starting two costs what it takes to restore about as many. */
const ROWS_MIN = 1_000_000;
/** As the reference's savers. */
const TIMEOUT_MS = 60 * 60_000;

export class ShardThread {
  readonly #thread: ServiceThread<TableFilesService>;

  constructor({ table }: TableImage, index: number) {
    const { name, memory, addresses, dumpSegments, skipZero, expireDays } = table;
    const data: TableFilesData = { name, memory: memory.handle, addresses, dumpSegments, skipZero, expireDays };
    this.#thread = new ServiceThread({
      name: `table files ${index}`,
      entry: new URL('../../../workers/table-files.js', import.meta.url),
      workerData: data,
    });
  }

  writeShard(range: RowRange, path: string, options: WriteShardOptions): Promise<WrittenShard> {
    const { bufferBytes, sync, checksum } = options;
    return this.#thread.call((service) => service.writeShard(range, path, { bufferBytes, sync, checksum }), TIMEOUT_MS);
  }

  loadShard(file: string): Promise<LoadedShard> {
    return this.#thread.call((service) => service.loadShard(file), TIMEOUT_MS);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

export class ShardThreads {
  readonly #threads: readonly ShardThread[];

  private constructor(threads: readonly ShardThread[]) {
    this.#threads = threads;
  }

  /** How many there are; 0 when jobs run on the calling thread. */
  get count(): number {
    return this.#threads.length;
  }

  /** Threads for `jobs` shards of `rows` rows in all; none when one thread is enough. */
  static start(image: TableImage, jobs: number, rows: number, threads?: number): ShardThreads {
    const wanted = Math.min(jobs, threads ?? (rows < ROWS_MIN ? 1 : availableParallelism()));
    const count = wanted > 1 ? wanted : 0;
    return new ShardThreads(Array.from({ length: count }, (_, index) => new ShardThread(image, index)));
  }

  /**
   * Runs every job once, on whichever thread is free, or one after the other on this one (`thread` is null then). After
   * a failure nothing new is begun, and what is under way is waited for: a thread that is ended within a kernel would
   * take the locks of the table with it.
   */
  async each<J, T>(jobs: readonly J[], run: (job: J, thread: ShardThread | null) => Promise<T>): Promise<T[]> {
    const results: T[] = [];
    const queue = jobs.entries();
    const failures: unknown[] = [];
    const work = async (thread: ShardThread | null): Promise<void> => {
      for (const [index, job] of queue) {
        if (failures.length > 0) return;
        try {
          results[index] = await run(job, thread);
        } catch (cause) {
          failures.push(cause);
        }
      }
    };
    await Promise.all(this.#threads.length === 0 ? [work(null)] : this.#threads.map(work));
    if (failures.length > 0) throw failures[0];
    return results;
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}
