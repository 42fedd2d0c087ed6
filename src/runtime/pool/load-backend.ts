/** @file The backends by name, each loaded on first use: a session of the CPU never sees the modules of another. */
import type { Backend } from '../backends/backend.js';
import type { CudaOptions } from '../backends/cuda/cuda-options.js';

/** What a session can be told of its backend. */
export interface BackendOptions extends CudaOptions {
  /**
   * `cuda` computes on a GPU and keeps tables on the host; `auto` does when there is a GPU, and is `wasm` otherwise.
   * Default: `wasm`.
   */
  readonly backend?: BackendName | 'auto';
}

interface BackendEntry {
  load(): Promise<Backend<CudaOptions>>;
  /** Options that a session of another backend must not have. */
  readonly own?: readonly (keyof CudaOptions)[];
}

const BACKENDS = {
  wasm: { load: async () => (await import('../backends/wasm/wasm-backend.js')).wasmBackend },
  reference: { load: async () => (await import('../backends/reference/reference-backend.js')).referenceBackend },
  cuda: {
    load: async () => (await import('../backends/cuda/cuda-backend.js')).cudaBackend,
    own: ['useGpuEmbTable'],
  },
} as const satisfies Record<string, BackendEntry>;

export type BackendName = keyof typeof BACKENDS;

/** Backends that `auto` tries, the one that is wanted most first. */
export const AUTO: readonly BackendName[] = ['cuda', 'wasm'];
export const BACKEND_NAMES = Object.keys(BACKENDS) as readonly BackendName[];

export function loadBackend(name: BackendName): Promise<Backend<BackendOptions>> {
  return (BACKENDS[name] as BackendEntry).load();
}

/** Backends other than `name` that these options were meant for. */
export function misplacedOptions(name: BackendName, options: BackendOptions): BackendName[] {
  return BACKEND_NAMES.filter((other) => {
    const { own = [] } = BACKENDS[other] as BackendEntry;
    return other !== name && own.some((option) => Boolean(options[option]));
  });
}
