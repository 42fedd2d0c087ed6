/**
 * @file The one error class of the product and the table of its codes.
 *
 * A code is what programs test, the fields are what they read, the sentence is for people. A test raises every code
 * and docs/errors.md is made from this table.
 */

/** The sentence of each error code. A field stands for `{name}`. Grouped by area, each group sorted. */
export const ERROR_MESSAGES = {
  // checkpoint
  ML_CKPT_CORRUPT: 'checkpoint file {file} is damaged: {reason}',
  ML_CKPT_MODEL: 'model directory {dir} holds a checkpoint of another model: {reason}',
  ML_CKPT_NONE: 'there is no checkpoint at {path}: {reason}',
  ML_CKPT_PATH: 'The passed save_path is not a valid checkpoint: {path}',
  ML_CKPT_READ: 'checkpoint file {file} cannot be read: {reason}',
  ML_CKPT_SETTINGS: 'checkpoint {path} was trained with other settings: {changes}',
  ML_CKPT_SHARDS: '{reason}',
  ML_CKPT_NO_TABLE:
    "Unable to find table checkpoint in '{dir}' for table: {table}. Maybe the model structure has been changed.",
  ML_CKPT_TABLE: 'table {table} cannot be restored from record {record} of {file}: {field} {reason}',
  ML_SAVER: '{reason}',
  ML_CKPT_WRITE: 'checkpoint could not be written to {file}: {reason}',
  // command line and files the user names
  ML_DIR: 'model directory {dir} cannot be used: {reason}',
  ML_FLAG: '{flag}: {reason}',
  ML_CONFIG_FILE: 'config file {file} cannot be used: {reason}',
  ML_INTERNAL: 'unexpected failure: {reason}',
  ML_OUTPUT: 'output cannot be written: {reason}',
  ML_TRACE_NAME: 'trace name {name} cannot be used: {reason}',
  ML_TRACE_READ: 'trace file {file} cannot be read: {reason}',
  ML_GRAPH_WRITE: 'graph file {file} cannot be written: {reason}',
  ML_TRACE_WRITE: 'trace file {file} cannot be written: {reason}',
  ML_UNSUPPORTED: '{what} is not supported: {reason}',
  // file formats
  ML_BUNDLE: 'tensor bundle {file}: {reason}',
  ML_FILE_SYSTEM: 'no file system is registered for {scheme}:/, which {path} is in',
  ML_FILE_READ: 'file {file} cannot be read: {reason}',
  ML_PBTXT: 'text message {file}, line {line}: {reason}',
  ML_PROTO: 'message is malformed in {field} at byte {offset}: {reason}',
  ML_RECORD: 'record {record} of {file} is damaged in its {field}: {reason}',
  ML_SNAPPY: 'snappy data is malformed: {reason}',
  ML_SSTABLE: 'table file {file} is damaged in its {field}: {reason}',
  // CUDA
  ML_CUDA_ADDON: 'the GPU backend is not built: {reason}',
  ML_CUDA_CALL: '{call} failed with {name} ({status}): {reason}',
  ML_CUDA_DEVICE: 'CUDA device cannot be used: {reason}',
  ML_CUDA_DRIVER: 'CUDA driver cannot be used: {reason}',
  ML_CUDA_KERNEL: 'a kernel failed, {call} says {name} ({status}): {reason}',
  ML_CUDA_LAUNCH: 'kernel {kernel} cannot be launched: {reason}',
  ML_CUDA_MEMORY: 'out of device memory, {call} failed with {name} ({status}): {reason}',
  ML_CUDA_PTX: 'PTX was refused, {call} failed with {name} ({status}): {reason}',
  ML_GPU_TABLE: 'table {table} cannot be on the device: {reason}',
  ML_GPU_TABLE_FULL:
    'table {table} has {rows} rows on the device and may need {more} more: ' +
    'there is room for {rowsMax} of {rowBytes} bytes each',
  // data
  ML_COLUMN: '{source} has no column "{column}"; it has {columns}',
  ML_DATA: '{where}, column {column}: {reason}',
  ML_LABEL: 'label {label} cannot be used: {reason}',
  ML_DATASET: 'data set cannot be made: {reason}',
  // dense optimizers; wording that upstream callers test is upstream's
  ML_DENSE_LEGACY: 'Please use tf.compat.v1.disable_eager_execution() instead of tf.compat.v1.disable_v2_behavior()',
  ML_DENSE_SCALAR: '{name} is not a scalar: {shape}',
  ML_DENSE_SHAPE: 'var and {name} do not have the same shape{variable} {found}',
  ML_DENSE_SPARSE: '{optimizer} does not support sparse gradients',
  // graph and session
  ML_GRAPH: 'graph is invalid at {op}: {reason}',
  ML_CACHED_TWICE: 'The variable has already been cached. Consider about removing cache_device.',
  ML_CACHED_TYPE: 'Only ResourceVariable is supported. Do you disable V2 behavior or use strategy?',
  ML_SYNC_MPI: 'sync training must running under mpi mode',
  ML_DEVICE: 'device {device} cannot be read at {part}',
  ML_GRADIENT_VARS: 'Invalid variables in the input: {variable} is none of {valid}',
  ML_TASK: '{reason}',
  ML_GRAPH_JSON: 'description of a graph {source} cannot be read: {reason}',
  ML_FEED: 'feed {name} does not fit: {reason}',
  ML_NAN_LOSS: 'NaN loss during training at step {step}',
  ML_OPS_DEPENDENCE:
    'Checking ops dependence, the ops [{ops}] depend on ops [{needed}], ' +
    'which may cause ops [{needed}] to be run twice.',
  ML_OUT_OF_RANGE: 'end of input: {source}',
  // queues; wording that upstream callers test is upstream's
  ML_QUEUE_DEVICES: 'When using multi-device queues, this interface is disabled.{advice}',
  ML_QUEUE_ELEMENT: 'element does not fit the queue {queue}: {reason}',
  ML_QUEUE_EMPTY: 'Arguments `dense_list` should not be empty.',
  ML_QUEUE_LIST: 'dense_list should be a list of `tf.Tensor`s',
  ML_QUEUE_MANY:
    'GPUCompatiblePaddingFIFOQueue does not support enqueue_many or dequeue_many, only enqueue and dequeue.',
  ML_QUEUE_SELF: 'the queue {queue} is empty, and the run that would take from it is the one that fills it',
  ML_QUEUE_SHAPES: 'Shapes must be provided for all components, but received {dtypes} dtypes and {shapes} shapes.',
  // arguments; wording that upstream callers test is upstream's
  ML_LIST_NONE: 'ListChecker cannot accept None candidate',
  ML_LIST_RANGE: 'ListChecker got candidate beyonds the range',
  ML_LIST_TYPE: 'ListChecker got candidate in the wrong type[{type}]',
  ML_OPTION: '{where}: {reason}',
  // configuration; wording that upstream callers test is upstream's
  ML_RUNNER: '{reason}',
  ML_LINK_FIELD: '{name} is not a valid attribute of {type}',
  ML_LINK_FLAG: '{flag} is not defined in gflags',
  ML_PARAMETER_SYNC: 'enable_parameter_sync not set!',
  // hyper-parameters; wording that upstream callers test is upstream's
  ML_PARAM_CLASS: 'params have no class to make an instance of: cls is null',
  ML_PARAM_DEFINED: 'Parameter {name} is already defined',
  ML_PARAM_IMMUTABLE: 'This Params instance is immutable.',
  ML_PARAM_NAME: 'parameter name {name} must be lower case letters, digits and underscores, a letter first',
  ML_PARAM_PATH: 'Cannot introspect {type} for {path}',
  ML_PARAM_UNKNOWN: '{name}{meant}',
  // metrics
  ML_METRIC: 'metric {metric} cannot be had: {reason}',
  // memory and threads
  ML_BOUNDS: 'view {name} of {bytes} bytes at {offset} does not fit: {reason}',
  ML_CLOSED: '{what} is closed',
  ML_CANCELLED: '{what} was cancelled: {reason}',
  // what callers of remote services tell apart
  ML_ABORTED: '{what} was aborted: {reason}',
  ML_ALREADY_EXISTS: '{what} exists already: {reason}',
  ML_BARRIER_INDEX: 'Index [{index}] must be non-negative and less than capacity [{capacity}]. ',
  ML_BARRIER_PLACED: 'Barrier is placed already.',
  ML_DEADLINE: '{what} was not done within {timeoutMs} ms',
  ML_NODE_ALIVE: '{nodes} is unreachable',
  ML_NOT_FOUND: '{what} was not found: {reason}',
  ML_SIGNAL: 'signal {signal} cannot be handled: {reason}',
  ML_SYNC_INDEX: 'Index {index} is out range ',
  ML_UNAVAILABLE: '{what} is unavailable: {reason}',
  ML_UNIMPLEMENTED: '{what} is not implemented: {reason}',
  ML_KERNELS: 'kernels {variant} cannot be used: {reason}',
  ML_MEMORY: 'out of shared memory: {name} needs {bytes} bytes, {free} are free',
  ML_THREADS: 'thread {thread} could not be started: {reason}',
  ML_TIMEOUT: '{what} did not answer within {timeoutMs} ms',
  ML_WASM: 'WebAssembly kernels cannot run here: {reason}',
  ML_WASM_STALE: '{file} is a build of other kernels: {reason}',
  ML_WORKER: 'worker thread {thread} failed: {reason}',
  // tensors; wording that upstream callers test is upstream's
  ML_NESTED_COUNT: 'nested result needs {expected} tensors, got {found}',
  ML_NESTED_LEAF: 'Tensor is not supported. {leaf}',
  ML_NESTED_RAGGED: "Nested tensor doesn't support nested RaggedTensor.",
  ML_PACK: 'tensors cannot be packed: {reason}',
  ML_PACKED_LENGTH: 'Wrong packed_list length',
  ML_RAGGED_INPUT: 'input must be RaggedTensor',
  ML_RAGGED_SHAPE: 'Unknown shape of RaggedTensor. ',
  ML_RAGGED_SPLITS: 'row splits are invalid: {reason}',
  ML_RAGGED_TYPE: 'rt must be RaggedTensor',
  ML_RESHAPE_COUNT: '`shapes` size must equal to `inputs`, got shapes ({shapes}) vs `inputs` ({inputs})',
  ML_RESHAPE_DIVIDE: 'Input[{index}] of size {size} cannot be reshaped as {shape}',
  ML_RESHAPE_RANK: 'Shape cannot be unknown rank for input [{index}]!',
  ML_RESHAPE_SIZE: 'Input[{index}] to reshape is a tensor with {size} values, but the requested shape has {requested}',
  ML_RESHAPE_UNKNOWN: 'Only one input size may be -1, not both {first} and {second}for input [{index}]!',
  ML_TENSOR: 'tensor of dtype {dtype} and shape [{shape}] is invalid: {reason}',
  // tensor ops; wording as upstream's where its callers test it
  ML_AUC_SIZE: 'the label and logit not match',
  ML_CLIP_LIST: 't_list should be a list',
  ML_FILL_POS: 'pos is bigger than offset size. {pos} v.s. {size}',
  ML_FILL_ROWS: "Pos's first dim doesn't match dim size. {rows} v.s. {dims}",
  ML_FILL_VALUE:
    "Value size doesn't match expected size. expected: {expected}, actual: {actual}. \nPos split: {splits}",
  ML_GATHER_DIM: 'See unmatched embedding dim {embeddings} and id dim {ids}',
  ML_MAP_ID: 'Unable to map id {id}',
  ML_MAP_LISTS: 'ids length and embeddings lenght must match. {ids} vs {embeddings}',
  ML_OP: '{op} cannot run: {reason}',
  ML_RAGGED_INVALID: 'The input ragged tensor is invalid.',
  ML_RAGGED_VALUES: 'Ragged tensor values size must match indices size. Got {values} v.s. {indices}',
  ML_SEGMENT_EMPTY: 'Indices and updates specified for empty output shape',
  ML_UNIQUE_ROWS: 'RaggedKey should have {expected} but got {found}',
  // models for serving
  ML_EXPORT: 'the model cannot be exported: {what}: {reason}',
  ML_MODEL: 'model {model} cannot be used: {reason}',
  ML_NO_MODELS: 'no models in dir {path}',
  ML_PEER: '{what} needs the package {name}: {reason}',
  ML_REQUEST: '{reason}',
  ML_RELOAD: 'version {version} of {model} is not taken: {reason}',
  ML_SERVER: 'the server cannot start: {reason}',
  ML_SYNC: 'parameters of {what} cannot be pushed: {reason}',
  ML_SAFETENSORS: 'tensor file {file} is damaged: {reason}',
  // features
  ML_FEATURE_TABLE: 'Feature must only belongs to one table.',
  ML_FID_SLOT: 'slot should be less than {limit}, while got {slot}',
  ML_INPUT_TYPE: 'input_type only support example/examplebatch.',
  ML_LAYOUT: 'layout {layout} cannot be made: {reason}',
  ML_SEQ_LENGTH: 'seq_length must be greater than 0',
  ML_SHARDING: 'fids cannot be sharded: {reason}',
  // sparse; wording that upstream callers test is upstream's
  ML_BATCH_SOFTMAX_DIM: 'batch_softmax takes segments of dimension 1, got {dim}',
  ML_COMPRESSOR: 'compressor is not implemented yet. {config}',
  ML_ENTRY_COMP: 'comp config is missing form entry config: {config}',
  ML_ENTRY_DIMS:
    'Initializer/Optimizer/Retriever dim size should match. But got {initializer} vs {optimizer} vs {retriever}',
  ML_ENTRY_INIT_OPT: 'init or opt config is missing from entry config : {config}',
  ML_FILTER_FILE: "{field}: {expected} does't match with : {found} read from hash filter checkpoint file.",
  ML_FILTER_SIZE: 'admission filter cannot be made: {reason}',
  ML_FILTER_TYPE: 'Invalid filter type, please investigate and retry!',
  ML_GLOBAL_STEP: 'global_step={step} is negative, please investigate!',
  ML_GRADIENT: 'gradient of table {table} is not finite: {where}',
  ML_ID_TYPE: '{what} takes 64-bit integer ids: {reason}',
  ML_IDS: 'table {table} takes 64-bit ids: {reason}',
  ML_INITIALIZER: 'initializer is not implemented yet. {config}',
  ML_MULTI_LENGTH: "The length of tensor `{tensor}` doesn't equal to table num. {found}v.s.{tables}",
  ML_MULTI_SHORT: 'The length of tensor `{tensor}` is too short. Currently value{size}',
  ML_MULTI_SPLITS: 'table size: {tables}. Error id_split size: {size}',
  ML_OPTIMIZER: 'optimizer is not implemented yet. {config}',
  ML_RATE: 'learning rate cannot be made: {reason}',
  ML_RATE_BASE: 'Learning rate function must override __call__',
  ML_RATE_COUNT: 'Size of learning_rate_fns and size of segments must be equal.',
  ML_RATE_EMPTY: 'Learning_rate_fns must be not empty.',
  ML_STEP_INTERVAL: 'init_step_interval should be >= 1, while got {interval}',
  ML_TABLE_BUSY: 'a step of the session works on table {table}: calls are for between steps',
  ML_TABLE_DIM: "The dim doesn't match expectation. {found} vs {expected}",
  ML_TABLE_LOOKUP_DIM: 'dim_size should match hash table size. {found} vs {expected}. Node name: {name}',
  ML_TABLE_PASSED_OVER: 'table {table} is full with {rows} rows: {count} times a new id got none',
  ML_TABLE_NAME: 'shared_name {name} has already been used.',
  ML_TABLE_SERVING: "ServingEntryAccessor doesn't support {operation}",
  ML_TABLE_SKIP_ZERO: 'Only EntryConfig_EntryType_SERVING supports skip_zero_embedding!',
  ML_TABLE_TYPE: 'Unknown type of hash table. {config}',
  ML_TABLE_UNKNOWN: 'there is no table {table}: {reason}',
  ML_TOUCHED_SIZE: 'touched-key set {name} cannot be made: {reason}',
} as const;

export type ErrorCode = keyof typeof ERROR_MESSAGES;
export type ErrorFields = Readonly<Record<string, unknown>>;

export interface ErrorOptions {
  /** What the reader can do about it. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/**
 * An error with a code that programs can test, fields, a sentence and mostly a hint.
 *
 * Two fields may come with any code and end its sentence: `place`, the user's line that asked for what failed, and
 * `node`, the op of the graph that was being made or run.
 *
 * ```ts
 * throw new MonolithError('ML_FLAG', { flag: '--steps', reason: 'must be at least 1' }, { hint: 'try --steps 100' });
 * ```
 */
export class MonolithError extends Error {
  readonly code: ErrorCode;
  readonly fields: ErrorFields;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, fields: ErrorFields = {}, options: ErrorOptions = {}) {
    super(
      located(render(ERROR_MESSAGES[code], fields), fields),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'MonolithError';
    this.code = code;
    this.fields = fields;
    this.hint = options.hint;
  }
}

function render(pattern: string, fields: ErrorFields): string {
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) => (name in fields ? String(fields[name]) : `{${name}}`));
}

function located(message: string, { node, place }: ErrorFields): string {
  const op = typeof node === 'string' && !message.includes(node) ? `, in ${node}` : '';
  return `${message}${op}${typeof place === 'string' ? `${op === '' ? ',' : ''} at ${place}` : ''}`;
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
