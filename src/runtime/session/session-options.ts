/** @file What a session can be told when it is made. */
import { checkOptions } from '../../base/check-options.js';
import type { BatchSchema } from '../../memory/batch.js';
import type { CudaDriverOptions } from '../backends/cuda/driver.js';
import type { DeviceTableOptions } from '../backends/cuda/resident-tables.js';
import type { KernelVariant } from '../backends/wasm/kernel-variants.js';
import type { BackendName } from '../pool/protocol.js';
import type { TablePolicy } from '../tables/table-memory.js';

export interface SessionOptions {
  /** What a batch holds, in this order. */
  readonly schema: BatchSchema;
  /** Examples a batch has at the most. */
  readonly batchSize: number;
  /** Default: every core. */
  readonly threads?: number;
  /** `cuda` computes on a GPU and keeps tables on the host; `auto` does when there is a GPU, and is `wasm` otherwise. */
  readonly backend?: BackendName | 'auto';
  /** For `cuda` and `auto`: which driver and which device. */
  readonly cuda?: CudaDriverOptions;
  /** The same bytes for any number of threads and any machine: a fixed number of slices, and the plain kernels. */
  readonly deterministic?: boolean;
  /** The build of the kernels. Default: what MONOLITH_KERNELS names, else the quickest this engine runs. */
  readonly kernels?: KernelVariant;
  /** Half of it is for programs and batches, half for tables. Default: 4 GiB, the most there can be, or what the machine grants. */
  readonly memoryBytes?: number;
  /**
   * Bytes that tables may take: keys, rows, optimizer state and slack. What does not fit the half of the session's memory
   * is spread over memories of its own, reserved at the start. Default: that half.
   */
  readonly tableBytes?: number;
  /** Bytes of one of those memories; 4 GiB unless told. */
  readonly bankBytes?: number;
  readonly tablePolicy?: TablePolicy;
  /**
   * `use_gpu_emb_table`: with the cuda backend, tables live on the GPU. `true` lets them grow as its memory allows; a
   * number of rows is room for so many in each table. They come back to the host for whoever reads them. Default: false.
   */
  readonly useGpuEmbTable?: boolean | DeviceTableOptions;
  readonly seed?: number;
  /** Events each thread keeps; nothing is traced without it. */
  readonly traceEvents?: number;
  readonly stepTimeoutMs?: number;
}

/** ML_OPTION for what is none of the above, at any depth. */
export function checkSessionOptions(options: SessionOptions): void {
  checkOptions('Session.create', options, [
    'schema',
    'batchSize',
    'threads',
    'backend',
    'cuda',
    'deterministic',
    'kernels',
    'memoryBytes',
    'tableBytes',
    'bankBytes',
    'tablePolicy',
    'useGpuEmbTable',
    'seed',
    'traceEvents',
    'stepTimeoutMs',
  ]);
  const { cuda, tablePolicy, useGpuEmbTable } = options;
  if (cuda !== undefined) checkOptions('the session option cuda', cuda, ['driver', 'device', 'env']);
  if (tablePolicy !== undefined) {
    checkOptions('the session option tablePolicy', tablePolicy, ['whenFull', 'badGradients']);
  }
  if (typeof useGpuEmbTable === 'object') {
    checkOptions('the session option useGpuEmbTable', useGpuEmbTable, ['rows', 'grows']);
  }
}
