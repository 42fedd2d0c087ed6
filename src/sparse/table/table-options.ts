/** @file How tables are made, and how they are named for other threads. */
import type { WhenFull } from '../../memory/table-layout.js';
import type { TableMemoryHandle } from '../../runtime/tables/table-banks.js';
import type { TableMemory } from '../../runtime/tables/table-memory.js';
import type { EmbeddingHashTableConfig } from '../config/config-messages.js';
import type { GateOptions } from './update-gate.js';

export interface TableOptions extends GateOptions {
  /** What first values of random initializers depend on, besides the id. */
  readonly seed?: number;
  /**
   * A gradient that is NaN or infinite fails the call, or its row is left alone. Default: it fails; in a session's
   * steps it is left alone.
   */
  readonly badGradients?: 'fail' | 'skip';
  /**
   * What happens when the memory is full: fail, remove expired rows, or pass over new ids and count them. Default:
   * fail.
   */
  readonly whenFull?: WhenFull;
  /** Unix seconds. Default: the wall clock. Only reinitialize asks. */
  readonly nowSec?: () => number;
}

/** Names a table for other threads; survives `postMessage`. */
export interface HashTableHandle {
  readonly memory: TableMemoryHandle;
  readonly addresses: readonly number[];
  readonly name: string;
  readonly tableConfig: EmbeddingHashTableConfig;
  /** Rates that are functions stay with the thread that made the table: null. */
  readonly rates: readonly (number | null)[];
}

export interface AttachOptions extends GateOptions, Pick<TableOptions, 'nowSec'> {
  /** The memory as this thread has it already, for threads that hold several tables of one memory. */
  readonly memory?: TableMemory;
}
