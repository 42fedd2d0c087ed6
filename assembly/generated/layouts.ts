// What kernels share with src/memory, under the same names: byte offsets into structures, sizes in bytes, numbers.
// Written by generate-layouts.mjs: do not edit.

// src/memory/batch.ts
export namespace BATCH {
  export const rows: usize = 0;
  export const pointerCount: usize = 4;
  export const pointers: usize = 8;
}

// src/memory/control-layout.ts
export namespace CONTROL {
  export const command: usize = 0;
  export const done: usize = 4;
  export const abort: usize = 8;
  export const joined: usize = 12;
  export const spins: usize = 16;
  export const arrived: usize = 64;
  export const generation: usize = 128;
  export const commands: usize = 192;
}
export const COMMAND_CAPACITY: i32 = 256;

// src/memory/decode-layout.ts
export namespace DECODE {
  export const fields: usize = 0;
  export const fieldCount: usize = 4;
  export const columnCount: usize = 8;
  export const delimiter: usize = 12;
  export const decimalComma: usize = 16;
  export const powers: usize = 20;
  export const scratch: usize = 24;
  export const next: usize = 28;
  export const rows: usize = 32;
  export const lines: usize = 36;
  export const column: usize = 40;
  export const names: usize = 44;
  export const nameMask: usize = 48;
  export const list: usize = 52;
  export const checksums: usize = 56;
  export const stamp: usize = 60;
  export const firstField: usize = 64;
}
export namespace CELL {
  export const column: usize = 0;
  export const kind: usize = 4;
  export const to: usize = 8;
  export const values: usize = 12;
  export const capacity: usize = 16;
  export const max: usize = 20;
  export const split: usize = 24;
  export const flags: usize = 28;
  export const weights: usize = 32;
  export const perRow: usize = 36;
  export const nulls: usize = 40;
  export const texts: usize = 44;
  export const operator: usize = 48;
  export const weightMark: usize = 52;
  export const missing: usize = 56;
  export const hasMissing: usize = 60;
  export const operand: usize = 64;
  export const name: usize = 72;
  export const nameBytes: usize = 76;
  export const stamp: usize = 80;
  export const width: usize = 84;
  export const next: usize = 88;
}
export namespace NAME {
  export const fingerprint: usize = 0;
  export const field: usize = 8;
}
export namespace TEXT {
  export const address: usize = 0;
  export const bytes: usize = 4;
}
@inline export const CELL_BYTES: usize = 96;
@inline export const NAME_BYTES: usize = 16;
@inline export const TEXT_BYTES: usize = 8;
export namespace CELL_KIND {
  export const float: u32 = 0;
  export const double: u32 = 1;
  export const id: u32 = 2;
  export const ids: u32 = 3;
  export const rule: u32 = 4;
  export const text: u32 = 5;
  export const oneOf: u32 = 6;
  export const time: u32 = 7;
  export const int: u32 = 8;
  export const hash: u32 = 9;
}
export namespace CELL_FLAG {
  export const lower: u32 = 1;
  export const weighted: u32 = 2;
  export const ms: u32 = 4;
}
export namespace RULE {
  export const atLeast: u32 = 0;
  export const above: u32 = 1;
  export const atMost: u32 = 2;
  export const below: u32 = 3;
  export const equal: u32 = 4;
  export const other: u32 = 5;
}
export namespace DECODED {
  export const end: i32 = 0;
  export const full: i32 = 1;
  export const odd: i32 = 2;
}
export const DECODE_SCRATCH_BYTES: usize = 1024;
export const DECODE_LIST_MAX: u32 = 4096;

// src/memory/dense-layout.ts
export namespace SHAMPOO {
  export const rank: usize = 0;
  export const count: usize = 4;
  export const variable: usize = 8;
  export const gradient: usize = 12;
  export const d: usize = 16;
  export const m: usize = 20;
  export const pm: usize = 24;
  export const work: usize = 28;
  export const otherWork: usize = 32;
  export const projected: usize = 36;
  export const eigen: usize = 40;
  export const gemm: usize = 44;
  export const beta1: usize = 48;
  export const beta2: usize = 52;
  export const damping: usize = 56;
  export const warmup: usize = 60;
  export const tau1: usize = 64;
  export const tau2: usize = 68;
  export const eigenHead: usize = 72;
  export const eigenTail: usize = 76;
  export const axes: usize = 80;
}
export namespace SHAMPOO_AXIS {
  export const size: usize = 0;
  export const kept: usize = 4;
  export const s: usize = 8;
  export const g: usize = 12;
  export const pvec: usize = 16;
  export const pval: usize = 20;
  export const o: usize = 24;
}
@inline export const SHAMPOO_AXIS_BYTES: usize = 32;

// src/memory/dump-layout.ts
export namespace DUMP_PLAN {
  export const tables: usize = 0;
  export const fixedBytes: usize = 4;
  export const template: usize = 8;
  export const mask: usize = 12;
  export const runs: usize = 16;
  export const rowBytes: usize = 20;
  export const templateCrc: usize = 24;
  export const skips: usize = 28;
  export const sizeCrc: usize = 32;
  export const shifts: usize = 52;
  export const laneSets: usize = 56;
  export const headerCrc: usize = 64;
}
export namespace DUMP_RUN {
  export const row: usize = 0;
  export const count: usize = 4;
  export const message: usize = 8;
  export const gap: usize = 12;
}
export namespace DECODE_PROGRESS {
  export const next: usize = 0;
  export const why: usize = 4;
  export const crc: usize = 8;
}
@inline export const DUMP_PLAN_RUNS: usize = 96;
@inline export const DUMP_SIZE_CRCS: usize = 28;
@inline export const DUMP_HEADER_CRCS: usize = 60;
@inline export const DUMP_RUN_BYTES: usize = 16;
export namespace RECORD_FRAME {
  @inline export const size: usize = 0;
  @inline export const sizeCrc: usize = 8;
  @inline export const payload: usize = 12;
}
@inline export const ENTRY_ID: usize = 1;
@inline export const TAGGED_FLOAT_BYTES: usize = 5;
export const CRC_TABLE_BYTES: usize = 1024;
export const CRC_SHIFT_BYTES: usize = 4096;
export const LANE_SET_BYTES: usize = 512;
export const TIME_BYTES_MAX: usize = 5;
export namespace DECODE_END {
  export const needsBytes: u32 = 0;
  export const full: u32 = 1;
  export const unusual: u32 = 2;
}
export const ENCODE_CHUNK: u32 = 128;
export const LOAD_CHUNK: u32 = 512;

// src/memory/filter-layout.ts
export namespace FILTER {
  export const splits: usize = 0;
  export const forward: usize = 4;
  export const backward: usize = 8;
  export const steps: usize = 12;
  export const head: usize = 16;
  export const headIncrement: usize = 20;
  export const totalSize: usize = 24;
  export const capacity: usize = 28;
  export const cellBytes: usize = 32;
  export const splitStride: usize = 36;
  export const cells: usize = 40;
  export const failureCount: usize = 48;
}
export const FILTER_ELEMENTS: usize = 64;
export const FILTER_COUNT_MAX: u32 = 15;
export const KEPT_OUT: u32 = 2147483648;

// src/memory/id-sums-layout.ts
export namespace ID_SUMS {
  export const tallies: usize = 0;
  export const next: usize = 4;
  export const carryBytes: usize = 8;
  export const floats: usize = 12;
}
export namespace CARRY {
  export const id: usize = 0;
  export const sum: usize = 16;
}
export const CARRIES: usize = 16;
export namespace TALLY {
  export const additions: usize = 0;
  export const carry: usize = 4;
}
@inline export const TALLY_BYTES: usize = 8;
export const CHAIN_MAX: i64 = 4096;
export const BLOCK_ADDITIONS: u32 = 256;

// src/memory/kinds.ts
export namespace BINARY_KIND {
  export const add: i32 = 0;
  export const sub: i32 = 1;
  export const mul: i32 = 2;
  export const div: i32 = 3;
  export const maximum: i32 = 4;
  export const minimum: i32 = 5;
  export const greaterEqual: i32 = 6;
  export const equal: i32 = 7;
}
export namespace UNARY_KIND {
  export const abs: i32 = 0;
  export const sqrt: i32 = 1;
  export const exp: i32 = 2;
  export const log: i32 = 3;
  export const sign: i32 = 4;
  export const log1p: i32 = 5;
}
export namespace POOLING_TYPE {
  export const SUM: i32 = 0;
  export const MEAN: i32 = 1;
  export const FIRSTN: i32 = 3;
}

// src/memory/optimizer-layout.ts
export namespace OPTIMIZER_NUMBER {
  export const adagrad: i32 = 1;
  export const sgd: i32 = 2;
  export const ftrl: i32 = 3;
  export const dynamicWdAdagrad: i32 = 5;
  export const adadelta: i32 = 6;
  export const adam: i32 = 7;
  export const amsgrad: i32 = 8;
  export const momentum: i32 = 9;
  export const movingAverage: i32 = 10;
  export const rmsprop: i32 = 11;
  export const rmspropv2: i32 = 12;
  export const groupFtrl: i32 = 14;
  export const batchSoftmax: i32 = 15;
  export const groupAdagrad: i32 = 16;
}
export namespace PARAMETER_BLOCK {
  export const rate: usize = 0;
  export const flags: usize = 4;
  export const initial: usize = 8;
  export const values: usize = 12;
  export const globalStep: usize = 32;
}
export namespace PARAMETER_FLAG {
  export const nesterov: u32 = 1;
  export const standardL1: u32 = 2;
  export const decoupled: u32 = 4;
}

// src/memory/pages-layout.ts
export namespace RUNS {
  export const at: usize = 0;
  export const end: usize = 4;
  export const width: usize = 8;
  export const left: usize = 12;
  export const packed: usize = 16;
  export const value: usize = 20;
  export const bit: usize = 24;
  export const next: usize = 28;
}
export namespace LISTS {
  export const rows: usize = 0;
  export const values: usize = 4;
}
export namespace NUMBER_TYPE {
  export const int32: u32 = 0;
  export const uint32: u32 = 1;
  export const int64: u32 = 2;
  export const uint64: u32 = 3;
  export const float32: u32 = 4;
  export const float64: u32 = 5;
}

// src/memory/program-layout.ts
export namespace CONTEXT {
  export const stages: usize = 0;
  export const stagesEnd: usize = 4;
  export const sliceRegisters: usize = 16;
  export const sliceRegistersStride: usize = 20;
  export const sliceBegin: usize = 24;
  export const sliceEnd: usize = 28;
  export const sliceCount: usize = 32;
  export const threadRegisters: usize = 36;
  export const control: usize = 40;
  export const threads: usize = 44;
  export const trace: usize = 48;
  export const traceBarrier: usize = 52;
  export const bindings: usize = 64;
  export const failedAt: usize = 68;
  export const failedDetail: usize = 72;
  export const captures: usize = 76;
  export const traceKernels: usize = 80;
  export const placement: usize = 84;
}
export namespace STAGE {
  export const kind: usize = 0;
  export const code: usize = 4;
  export const codeEnd: usize = 8;
  export const traceName: usize = 12;
}
export namespace INSTRUCTION {
  export const head: usize = 0;
  export const traceName: usize = 4;
  export const result: usize = 8;
  export const operands: usize = 12;
}
export namespace BINDINGS {
  export const count: usize = 0;
  export const rows: usize = 4;
  export const inverseBatch: usize = 8;
  export const sliceRows: usize = 12;
  export const entries: usize = 16;
}
export namespace BINDING {
  export const kind: usize = 0;
  export const pointer: usize = 4;
  export const register: usize = 8;
  export const values: usize = 12;
  export const valueCount: usize = 16;
  export const size: usize = 20;
  export const offset: usize = 24;
  export const name: usize = 28;
}
export namespace CAPTURES {
  export const count: usize = 0;
  export const to: usize = 4;
  export const commandBytes: usize = 8;
  export const pairs: usize = 16;
}
export namespace CAPTURE {
  export const address: usize = 0;
  export const sliceBytes: usize = 4;
}
@inline export const STAGE_BYTES: usize = 16;
@inline export const BINDING_BYTES: usize = 32;
@inline export const CAPTURE_BYTES: usize = 8;
export namespace STATUS {
  export const aborted: i32 = -1;
  export const batchRows: i32 = -2;
  export const batchValues: i32 = -3;
  export const kernel: i32 = -4;
}
export namespace STAGE_KIND {
  export const slices: u32 = 0;
  export const threads: u32 = 1;
}
export namespace BINDING_KIND {
  export const dense: u32 = 0;
  export const ragged: u32 = 1;
  export const fixed: u32 = 2;
  export const batchRows: u32 = 3;
}

// src/memory/record-layout.ts
export namespace PIECE {
  export const first: usize = 0;
  export const ids: usize = 4;
  export const offset: usize = 8;
  export const floats: usize = 12;
  export const matrix: usize = 16;
  export const stride: usize = 20;
  export const add: usize = 24;
}
export namespace FIELD {
  export const column: usize = 0;
  export const floats: usize = 4;
  export const numbers: usize = 8;
  export const order: usize = 12;
  export const starts: usize = 16;
  export const count: usize = 20;
}
export namespace MATMUL_SHAPE {
  export const groups: usize = 0;
  export const m: usize = 4;
  export const n: usize = 8;
  export const k: usize = 12;
  export const aGroup: usize = 16;
  export const aRow: usize = 20;
  export const aCol: usize = 24;
  export const bGroup: usize = 28;
  export const bRow: usize = 32;
  export const bCol: usize = 36;
  export const cGroup: usize = 40;
  export const cRow: usize = 44;
}
export namespace COPY {
  export const from: usize = 0;
  export const to: usize = 4;
  export const bytes: usize = 8;
}
export namespace COPY_ROWS {
  export const from: usize = 0;
  export const to: usize = 4;
  export const rows: usize = 8;
  export const bytes: usize = 12;
  export const fromBytes: usize = 16;
  export const toBytes: usize = 20;
}
export namespace UNIQUE_CELL {
  export const key: usize = 0;
  export const generation: usize = 8;
  export const index: usize = 12;
}
export namespace REORDER_INPUT {
  export const ids: usize = 0;
  export const length: usize = 4;
  export const dim: usize = 8;
  export const offsets: usize = 12;
}
export namespace GATHER_OUTPUT {
  export const offsets: usize = 0;
  export const rows: usize = 4;
  export const dim: usize = 8;
  export const to: usize = 12;
}
export namespace LAYOUT_SOURCE {
  export const address: usize = 0;
  export const floats: usize = 4;
  export const unit: usize = 8;
}
export namespace SHARD_SERVER {
  export const low: usize = 0;
  export const high: usize = 4;
  export const list: usize = 8;
}
@inline export const PIECE_BYTES: usize = 32;
@inline export const FIELD_BYTES: usize = 32;
@inline export const COPY_BYTES: usize = 12;
@inline export const COPY_ROWS_BYTES: usize = 24;
@inline export const RECORD_BYTES: usize = 16;
export const UNIQUE_CELL_BYTES: usize = 16;

// src/memory/secret.ts
export const SECRET_ADDRESS: usize = 960;

// src/memory/sum-blocks.ts
export const SUM_BLOCK: i32 = 64;
export const CHAIN_K: i32 = 512;
export const SUM_K: i32 = 256;
export const PAIR_ROWS: i32 = 256;
export const REPEATS: usize = 256;

// src/memory/route-layout.ts
export namespace ROUTE {
  export const owners: usize = 0;
  export const slices: usize = 4;
  export const records: usize = 8;
  export const ids: usize = 12;
  export const ends: usize = 16;
  export const order: usize = 20;
  export const offsets: usize = 24;
  export const counts: usize = 28;
  export const gradients: usize = 32;
  export const stride: usize = 36;
  export const dim: usize = 40;
  export const groups: usize = 44;
  export const found: usize = 48;
  export const places: usize = 52;
  export const cells: usize = 56;
  export const partitions: usize = 60;
}
export namespace ROUTE_SLICE {
  export const ids: usize = 0;
  export const order: usize = 4;
  export const offsets: usize = 8;
  export const trained: usize = 12;
  export const place: usize = 16;
  export const counts: usize = 20;
}
@inline export const ROUTE_SLICE_BYTES: usize = 32;
@inline export const ROUTE_FIRST: u32 = 2147483648;
export const ROUTE_CELLS: usize = 4;

// src/memory/table-layout.ts
export namespace TABLE {
  export const partitionsLog2: usize = 0;
  export const dim: usize = 4;
  export const stateFloats: usize = 8;
  export const rowBytes: usize = 12;
  export const segments: usize = 16;
  export const heap: usize = 20;
  export const seed: usize = 24;
  export const zeroRow: usize = 28;
  export const partitions: usize = 32;
  export const flags: usize = 36;
  export const bodyBytes: usize = 40;
  export const badGradients: usize = 44;
  export const badGradientRows: usize = 48;
  export const overflow: usize = 52;
  export const maxUpdateTime: usize = 56;
}
export namespace SEGMENT {
  export const dim: usize = 0;
  export const weightOffset: usize = 4;
  export const stateOffset: usize = 8;
  export const initializer: usize = 12;
  export const initialA: usize = 16;
  export const initialB: usize = 20;
  export const optimizer: usize = 24;
  export const flags: usize = 28;
  export const retriever: usize = 32;
  export const amplitude: usize = 36;
  export const scale: usize = 40;
  export const initScale: usize = 44;
  export const maxScale: usize = 48;
  export const stepSize: usize = 52;
  export const compressor: usize = 56;
  export const bodyOffset: usize = 60;
  export const parameters: usize = 64;
  export const drawStep: usize = 112;
}
export namespace PARTITION {
  export const index: usize = 0;
  export const mask: usize = 4;
  export const rows: usize = 8;
  export const nextRow: usize = 12;
  export const blockEnd: usize = 16;
  export const firstBlock: usize = 20;
  export const lastBlock: usize = 24;
  export const blockRows: usize = 28;
  export const freeRow: usize = 32;
  export const slotsTaken: usize = 36;
  export const lock: usize = 40;
  export const passedOver: usize = 44;
  export const scratch: usize = 48;
}
export namespace BLOCK {
  export const next: usize = 0;
  export const bytes: usize = 4;
}
export namespace OVERFLOW {
  export const days: usize = 0;
  export const passesOver: usize = 4;
  export const shares: usize = 8;
  export const hasRemovals: usize = 12;
}
export namespace APPLY_SLICE {
  export const ids: usize = 0;
  export const order: usize = 4;
  export const offsets: usize = 8;
  export const rows: usize = 12;
  export const gradients: usize = 16;
  export const stride: usize = 20;
  export const slots: usize = 24;
  export const counts: usize = 28;
}
export namespace SCAN_CURSOR {
  export const partition: usize = 0;
  export const position: usize = 4;
}
export namespace HEAP {
  @inline export const lock: usize = 0;
  @inline export const top: usize = 4;
  @inline export const end: usize = 8;
  @inline export const inStep: usize = 12;
  @inline export const retired: usize = 16;
  @inline export const parent: usize = 144;
  @inline export const shares: usize = 148;
  @inline export const sharers: usize = 152;
  @inline export const scratchBytes: usize = 156;
}
@inline export const SEGMENTS: usize = 64;
@inline export const SEGMENT_BYTES: usize = 128;
export namespace SLOT {
  @inline export const row: usize = 32;
  @inline export const time: usize = 48;
}
@inline export const PARTITION_BYTES: usize = 64;
@inline export const BUCKET_BYTES: usize = 64;
@inline export const APPLY_SLICE_BYTES: usize = 32;
@inline export const OVERFLOW_SLOTS: usize = 64;
@inline export const BLOCK_HEADER_BYTES: u32 = 64;
export const SHARE_BYTES: usize = 192;
export namespace TABLE_FLAG {
  export const serving: u32 = 1;
  export const plain: u32 = 2;
}
export namespace SEGMENT_FLAG {
  export const roundsToHalf: u32 = 1;
}
export namespace BAD_GRADIENTS {
  export const fail: u32 = 0;
  export const skip: u32 = 1;
}
export namespace RETRIEVER {
  export const raw: u32 = 0;
  export const fixedR8: u32 = 1;
  export const oneBit: u32 = 2;
}
export namespace COMPRESSOR {
  export const fp32: u32 = 0;
  export const fp16: u32 = 1;
  export const fixedR8: u32 = 2;
  export const oneBit: u32 = 3;
}
export namespace INITIALIZER {
  export const zeros: u32 = 0;
  export const uniform: u32 = 1;
  export const constant: u32 = 2;
}
export const SALTED: u32 = 2147483648;
export const ROW_FREE: u32 = 0;
export const ROW_REMOVED: u32 = 1;
export const ROW_SUMMING: u32 = 2;
export const ROWS_BLOCK_MIN: u32 = 4;
export const ROWS_BLOCK_MAX: u32 = 4096;
export const TIME_UNKNOWN: u32 = 4294967295;
export const PARTITIONS: u32 = 64;
export const LOOKUP_CHUNK: u32 = 512;
export namespace UPDATE_RESULT {
  export const heapFull: i32 = -1;
  export const badGradient: i32 = -2;
  export const refused: i32 = -3;
  export const lostLock: i32 = -4;
}

// src/memory/touched-layout.ts
export namespace TOUCHED {
  export const state: usize = 0;
  export const initLock: usize = 4;
  export const epoch: usize = 8;
  export const capacity: usize = 12;
  export const bucketMask: usize = 16;
  export const stripeMask: usize = 20;
  export const lump: usize = 24;
  export const slots: usize = 28;
  export const stripes: usize = 32;
  export const overflow: usize = 36;
  export const overflowMask: usize = 40;
  export const overflowLimit: usize = 44;
  export const slotCount: usize = 48;
  export const lanes: usize = 52;
  export const laneCount: usize = 56;
  export const size: usize = 64;
  export const overflowLock: usize = 128;
  export const overflowCount: usize = 132;
  export const clearLock: usize = 192;
  export const clearCount: usize = 196;
}
export namespace TOUCHED_STRIPE {
  export const lock: usize = 0;
  export const keys: usize = 4;
  export const overflowed: usize = 8;
}
export namespace TOUCHED_SLOT {
  export const id: usize = 0;
  export const hash: usize = 8;
  export const hops: usize = 12;
  export const table: usize = 16;
}
export namespace STOLEN_PAIR {
  export const id: usize = 0;
  export const tableIndex: usize = 8;
}
export const TOUCHED_HEADER_BYTES: usize = 256;
export const TOUCHED_STRIPE_BYTES: usize = 16;
export namespace TOUCHED_SLOT_BYTES {
  export const id: usize = 16;
  export const pair: usize = 32;
}
export const TOUCHED_SCRATCH_BYTES: usize = 1088;
export const LANE_BYTES: usize = 17536;
export namespace TOUCHED_SLOT_SHIFT {
  @inline export const id: u32 = 4;
  @inline export const pair: u32 = 5;
}
export const HOP_RANGE: u32 = 32;
export const INSERT_RANGE: u32 = 4096;
export const TOUCHED_CHUNK: u32 = 256;

// src/memory/trace-layout.ts
export namespace TRACE_RING {
  export const capacity: usize = 0;
  export const written: usize = 4;
  export const on: usize = 8;
  export const thread: usize = 12;
  export const origin: usize = 16;
  export const wraps: usize = 24;
}
export namespace TRACE_RECORD {
  export const head: usize = 0;
  export const argument: usize = 4;
  export const time: usize = 8;
}
export const TRACE_HEADER_BYTES: usize = 64;
export const TRACE_RECORD_BYTES: usize = 16;
export namespace TRACE_KIND {
  export const span: u32 = 1;
  export const counter: u32 = 2;
  export const instant: u32 = 3;
  export const begin: u32 = 4;
  export const end: u32 = 5;
}
export const NAME_ID_END: u32 = 16777216;
