/**
 * @file Layout of a session's control block: the barrier of its threads and the ring of commands.
 *
 * ```
 * control, i32 words:  | 0 command | 1 done | 2 abort | 3 joined | 4 spins | … |
 *                      | 16 arrived | … | 32 generation | … | 48 commands |
 * command, 8 words:    | 0 kind | 1 context of thread 0 | 2 context stride | 3 batch | 4 quiet | 5 foreseen | 2 spare |
 * ```
 * `command` and `done` are sequence numbers: the main thread publishes a command by storing its number, the last thread
 * through the closing barrier stores the same number as done. Several commands may be under way; a quiet one wakes
 * nobody when it is done. Words that different threads write are a cache line apart.
 */
export const CONTROL = {
  command: 0,
  done: 1,
  /** 0, or why everybody must leave: a value of ABORT. */
  abort: 2,
  joined: 3,
  /** How often a thread looks for the others at the barrier before it sleeps. */
  spins: 4,
  arrived: 16,
  generation: 32,
  commands: 48,
} as const;
export const COMMAND = { kind: 0, contexts: 1, contextStride: 2, batch: 3, quiet: 4, foreseen: 5 } as const;
/** What a command's `foreseen` points to, 0 for nothing: words that every thread writes before it runs the command. */
export const FORESEEN = { count: 0, entries: 1, memory: 0, index: 1, value: 2, entryWords: 3 } as const;
export const COMMAND_WORDS = 8;
/** Commands that can be under way at once, a power of two. */
export const COMMAND_CAPACITY = 256;
export const CONTROL_BYTES = 4 * (CONTROL.commands + COMMAND_WORDS * COMMAND_CAPACITY);

export const COMMAND_KIND = { step: 1, stop: 2 } as const;
export const ABORT = { closed: 1, failed: 2 } as const;

/**
 * The number after `command`. It wraps, and 0 is left out: to the closing barrier 0 means that nothing is published.
 */
export function nextCommand(command: number): number {
  return (command + 1) | 0 || 1;
}
