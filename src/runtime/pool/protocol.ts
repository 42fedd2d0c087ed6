/** @file What the main thread and a pool thread say to each other; both sides import it. */

import type { WireError } from '../../base/error-wire.js';
import type { WasmMemory, WasmModule } from '../../base/wasm-types.js';
import type { TableMemoryHandle } from '../tables/table-banks.js';
import type { BackendName } from './load-backend.js';

/** The one long task of a pool thread: take part in a session until it stops. */
export interface JoinMessage {
  readonly thread: number;
  readonly backend: BackendName;
  /** What the backend in the main thread has for this one. */
  readonly told: unknown;
  readonly memory: WasmMemory;
  readonly module: WasmModule;
  /** Memories of tables that are not in the session's own. */
  readonly tables: TableMemoryHandle | null;
  /** Address of the session's control block. */
  readonly control: number;
  /** Trace ring of this thread, 0 when nothing is traced, and the name of waiting for a command. */
  readonly trace: number;
  readonly traceWait: number;
}

/** How the task ended. */
export type JoinResult =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'step-failed'; readonly status: number; readonly failedAt: number; readonly failedDetail: number }
  | { readonly kind: 'threw'; readonly error: WireError };
