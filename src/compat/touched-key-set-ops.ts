/** @file The names of native_training/touched_key_set_ops. The set itself is `TouchedKeySet`. */
import { Arena, CACHE_LINE } from '../memory/arena.js';
import { createSharedMemory, MEMORY_BYTES_MAX } from '../memory/shared-memory.js';
import { touchedGeometry } from '../memory/touched-geometry.js';
import { instantiateKernels } from '../runtime/backends/wasm/instantiate-kernels.js';
import { compileKernels } from '../runtime/backends/wasm/load-kernels.js';
import { DEFAULT_CAPACITY, DEFAULT_CONCURRENCY_LEVEL, TouchedKeySet } from '../sparse/table/touched-key-set.js';

/** Ids that a set holds at the most when nobody says how many: 64 MiB at 32 bytes an id. */
export const TOUCHED_KEY_SET_CAPACITY = DEFAULT_CAPACITY;

/** Locks of a set when nobody says how many. */
export const TOUCHED_KEY_SET_CONCURRENCY_LEVEL = DEFAULT_CONCURRENCY_LEVEL;

/** Kernels take 0 for no address, so that nothing lies on the first page. */
const FIRST_BYTE = 65536;

/**
 * A set of touched ids in a memory of its own; one beside the rows of tables is `new TouchedKeySet(…)` with their
 * memory.
 *
 * ```ts
 * const touched = await createTouchedKeySet(1000, 1);
 * touched.insert([1n, 2n, 2n]); // 0: nothing was dropped
 * ```
 */
export async function createTouchedKeySet(
  capacity = TOUCHED_KEY_SET_CAPACITY,
  concurrencyLevel = TOUCHED_KEY_SET_CONCURRENCY_LEVEL,
  nameSuffix = '',
): Promise<TouchedKeySet> {
  const { bytes } = touchedGeometry(capacity, concurrencyLevel);
  const memory = createSharedMemory(Math.min(FIRST_BYTE + bytes + CACHE_LINE, MEMORY_BYTES_MAX));
  const kernels = instantiateKernels(await compileKernels(), memory);
  const arena = new Arena('touched keys', FIRST_BYTE, memory.buffer.byteLength);
  return new TouchedKeySet({ memory, kernels, arena, capacity, concurrencyLevel, nameSuffix });
}
