/** @file What a session can be told when it is made. */
import type { BatchSchema } from '../../memory/batch.js';
import type { KernelVariant } from '../backends/wasm/kernel-variants.js';
import type { BackendOptions } from '../pool/load-backend.js';
import type { TablePolicy } from '../tables/table-memory.js';
import type { FeedMap } from './feed-writer.js';
import type { RowStore } from './row-store.js';

/** A schema that knows the values of its features, as `defineSchema` makes them: what is fed is typed by it. */
export interface TypedSchema<Values> {
  readonly specs: BatchSchema;
  feeds(values: Values): Values;
}

export interface SessionOptions<Values extends FeedMap = FeedMap> extends BackendOptions {
  /** What a batch holds, in this order: a schema, or the specs of its feeds. */
  readonly schema: BatchSchema | TypedSchema<Values>;
  /** Examples a batch has at the most. */
  readonly batchSize: number;
  /** Default: every core. */
  readonly threads?: number;
  /** The same bytes for any number of threads and any machine: a fixed number of slices, and the plain kernels. */
  readonly deterministic?: boolean;
  /** The build of the kernels. Default: what MONOLITH_KERNELS names, else the quickest this engine runs. */
  readonly kernels?: KernelVariant;
  /**
   * Half of it is for programs and batches, half for tables. Default: 4 GiB, the most there can be, or what the machine
   * grants.
   */
  readonly memoryBytes?: number;
  /**
   * Bytes that tables may take: keys, rows, optimizer state and slack. What does not fit the half of the session's
   * memory is spread over memories of its own, reserved at the start. Default: that half.
   */
  readonly tableBytes?: number;
  /** Bytes of one of those memories. Default: 4 GiB. */
  readonly bankBytes?: number;
  readonly tablePolicy?: TablePolicy;
  readonly seed?: number;
  /** Events each thread keeps; nothing is traced without it. */
  readonly traceEvents?: number;
  readonly stepTimeoutMs?: number;
  /**
   * Steps before its use that the rows of a batch are read, by `runSteps` with the batches ahead, as trainers call it.
   * Rows then miss as many updates. Default: 0.
   */
  readonly prefetch?: number;
  /** Whether gradients go to the tables in the step after theirs. Default: false. */
  readonly postpush?: boolean;
  /** Who brings the rows of steps that train and takes their gradients. Default: the tables of the session. */
  readonly rows?: RowStore;
}

/** The specs of a schema in either form; what is none is left to whoever checks it. */
export function specsOf(schema: SessionOptions['schema']): BatchSchema {
  return typeof schema === 'object' && schema !== null && 'specs' in schema ? schema.specs : schema;
}
