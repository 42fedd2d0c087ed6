/**
 * @file Layout of a compiled program and of the step context by which a thread runs it. All words are u32.
 *
 * ```
 * stage:       | 0 kind | 1 code | 2 end of the code | 3 trace name |
 * instruction: | 0 opcode + (operands << 12) + (checked << 20) | 1 trace name | 2 result | operand registers … |
 * bindings:    | 0 entries | 1 register of the row count | 2 that of 1 / batch | 3 rows a slice can hold | entries … |
 * captures:    | 0 count | 1 where they go | 2 bytes per command | 3 - | pairs … |
 * ```
 */

/** Step context of one thread. */
export const CONTEXT = {
  stages: 0,
  stagesEnd: 1,
  sliceRegisters: 4,
  sliceRegistersStride: 5,
  sliceBegin: 6,
  sliceEnd: 7,
  sliceCount: 8,
  threadRegisters: 9,
  control: 10,
  threads: 11,
  trace: 12,
  traceBarrier: 13,
  bindings: 16,
  failedAt: 17,
  failedDetail: 18,
  captures: 19,
  /** Kernels are traced in steps whose command agrees with 3 in these bits. */
  traceKernels: 20,
  /** Record of placement-layout.ts, 0 in programs that run in one memory. */
  placement: 21,
} as const;
export const CONTEXT_BYTES = 128;

/** What a step answers when it did not end well. */
export const STATUS = { aborted: -1, batchRows: -2, batchValues: -3, kernel: -4 } as const;

export const STAGE = { kind: 0, code: 1, codeEnd: 2, traceName: 3 } as const;
export const STAGE_WORDS = 4;
export const STAGE_KIND = { slices: 0, threads: 1 } as const;

export const INSTRUCTION = { head: 0, traceName: 1, result: 2, operands: 3 } as const;

/** Words of an instruction with this head. */
export function instructionWords(head: number): number {
  return INSTRUCTION.operands + ((head >>> 12) & 0xff);
}

export const BINDINGS = { count: 0, rows: 1, inverseBatch: 2, sliceRows: 3, entries: 4 } as const;
/** Points registers at a feed. */
export const BINDING = {
  kind: 0,
  /** Which pointer of the batch; the address itself where it is fixed. */
  pointer: 1,
  /** Register of the data, or of the splits of ragged ids. */
  register: 2,
  values: 3,
  valueCount: 4,
  /** Bytes of a row, or how many ragged values a slice can hold. */
  size: 5,
  /** Bytes from the begin of the data. */
  offset: 6,
  name: 7,
} as const;
export const BINDING_WORDS = 8;
/**
 * `fixed`: the slice's rows of a buffer at a fixed address. `batchRows`: the number of rows of the batch.
 */
export const BINDING_KIND = { dense: 0, ragged: 1, fixed: 2, batchRows: 3 } as const;

/**
 * Scalars of slices that are kept where the next step does not overwrite them: f32[count][slices] in one of
 * COMMAND_CAPACITY places, by the command's number.
 */
export const CAPTURES = { count: 0, to: 1, commandBytes: 2, pairs: 4 } as const;
export const CAPTURE = { address: 0, sliceBytes: 1 } as const;
export const CAPTURE_WORDS = 2;
