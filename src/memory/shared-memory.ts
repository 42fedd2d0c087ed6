/**
 * @file Makes the shared WebAssembly memory of a session at its full size: growing later would leave stale views
 * behind.
 */

import { MonolithError, messageOf } from '../base/errors.js';
import type { WasmMemory } from '../base/wasm-types.js';
import { writeSecret } from './secret.js';

export const PAGE_BYTES = 65536;

/** What comes before everything else of a memory, so that no address is 0. */
export const NULL_PAGE_BYTES = PAGE_BYTES;
/** One WebAssembly memory ends at 4 GiB. */
export const MEMORY_BYTES_MAX = 65536 * PAGE_BYTES;

/**
 * A shared memory of `bytes`, rounded up to pages, with the secret of this process. Pages cost nothing until they are
 * written.
 */
export function createSharedMemory(bytes: number): WasmMemory {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  if (!(pages >= 1 && pages <= 65536)) {
    throw new MonolithError('ML_MEMORY', { name: 'shared memory', bytes, free: MEMORY_BYTES_MAX });
  }
  try {
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    writeSecret(memory.buffer);
    return memory;
  } catch (cause) {
    throw new MonolithError(
      'ML_WASM',
      { reason: `a shared memory of ${bytes} bytes was refused (${messageOf(cause)})` },
      { hint: 'lift the limit on address space (ulimit -v) or ask for less memory', cause },
    );
  }
}

/** The least a session starts with when the machine grants no more. */
const RESERVE_BYTES_MIN = 256 << 20;

/** The largest shared memory the machine grants: address space only, until it is written. */
export function reserveSharedMemory(): WasmMemory {
  for (let bytes = MEMORY_BYTES_MAX; ; bytes /= 2) {
    try {
      return createSharedMemory(bytes);
    } catch (error) {
      if (bytes <= RESERVE_BYTES_MIN) throw error;
    }
  }
}

/** A shared memory of one thread, which grows: views of it are made anew when it did. */
export class GrowingMemory {
  readonly memory: WasmMemory & { grow(pages: number): number };

  constructor() {
    const memory: unknown = new WebAssembly.Memory({
      initial: 1,
      maximum: MEMORY_BYTES_MAX / PAGE_BYTES,
      shared: true,
    });
    this.memory = memory as GrowingMemory['memory'];
  }

  get buffer(): SharedArrayBuffer {
    return this.memory.buffer;
  }

  /** Makes it at least this large. ML_MEMORY where the machine has no more. */
  growTo(bytes: number): void {
    const pages = Math.ceil(bytes / PAGE_BYTES) - this.buffer.byteLength / PAGE_BYTES;
    if (pages <= 0) return;
    try {
      this.memory.grow(pages);
    } catch (cause) {
      throw new MonolithError(
        'ML_MEMORY',
        { name: 'memory of a reader', bytes, free: this.buffer.byteLength },
        { cause },
      );
    }
  }
}
