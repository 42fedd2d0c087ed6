/** @file What a session can be told for this backend. */
import type { CudaDriverOptions } from './driver.js';

/** `use_gpu_emb_table`: rows each table has room for at first, and whether it may grow. */
export interface DeviceTableOptions {
  readonly rows?: number;
  /** Default: it grows when no number of rows was given. */
  readonly grows?: boolean;
}

export interface CudaOptions {
  /** For `cuda` and `auto`: which driver and which device. */
  readonly cuda?: CudaDriverOptions;
  /**
   * `use_gpu_emb_table`: with the cuda backend, tables live on the GPU. `true` lets them grow as its memory allows; a
   * number of rows is room for so many in each table. They come back to the host for whoever reads them. Default:
   * false.
   */
  readonly useGpuEmbTable?: boolean | DeviceTableOptions;
}
