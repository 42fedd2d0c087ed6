/**
 * @file Layout of a session's control block and of the step context of each thread. assembly/sync.ts and
 * assembly/program.ts read the same words.
 *
 * ```
 * control, i32 words:  | 0 command | 1 done | 2 abort | 3 joined | 4 spins | … | 16 arrived | … | 32 generation | … | 48 ring of commands |
 * command, 8 words:    | kind | context of thread 0 | context stride | batch | quiet | 3 spare |
 * ```
 * `command` and `done` are sequence numbers: the main thread publishes a command by storing its number, the last thread
 * through the closing barrier stores the same number as done. Several commands may be under way; a quiet one wakes
 * nobody when it is done. Words that different threads write are a cache line apart.
 */
export const COMMAND = 0;
export const DONE = 1;
/** 0, or why everybody must leave: an ABORT_* value. */
export const ABORT = 2;
export const JOINED = 3;
/** How often a thread looks for the others at the barrier before it sleeps. */
export const SPINS = 4;
export const ARRIVED = 16;
export const GENERATION = 32;
export const COMMANDS = 48;
export const COMMAND_WORDS = 8;
export const COMMAND_CAPACITY = 64;
export const CONTROL_BYTES = 4 * (COMMANDS + COMMAND_WORDS * COMMAND_CAPACITY);

export const KIND_STEP = 1;
export const KIND_STOP = 2;

export const ABORT_CLOSED = 1;
export const ABORT_FAILED = 2;

/** Step context, u32 words. */
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

/** Stages of a program, u32 words each: | kind | code | end of the code | trace name |. */
export const STAGE_WORDS = 4;
export const STAGE_SLICES = 0;
export const STAGE_THREADS = 1;

export const STATUS_ABORTED = -1;
export const STATUS_BATCH_ROWS = -2;
export const STATUS_BATCH_VALUES = -3;
export const STATUS_KERNEL = -4;

/** Captures of a program: header words, drawn at capture() in assembly/program.ts; then two words each. */
export const CAPTURES_HEADER_WORDS = 4;

/** Bindings of a program: header and entry words, drawn at bindBatch in assembly/program.ts. */
export const BINDINGS_HEADER_WORDS = 4;
export const BINDING_WORDS = 8;
export const BINDING_DENSE = 0;
export const BINDING_RAGGED = 1;
/** The slice's rows of a buffer at a fixed address: the address stands in place of the pointer word. */
export const BINDING_FIXED = 2;
/** The number of rows of the batch. */
export const BINDING_BATCH_ROWS = 3;

/** The number after `command`. It wraps, and 0 is left out: to the closing barrier 0 means that nothing is published. */
export function nextCommand(command: number): number {
  return (command + 1) | 0 || 1;
}
