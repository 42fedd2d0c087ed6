// Numbers that a program keeps from step to step.

/** Adds `count` to the i64 at `counter`. */
export function addCountI64(counter: usize, count: u32): void {
  store<i64>(counter, load<i64>(counter) + <i64>count);
}

/**
 * Opens a new generation of a uniqueI64 scratch table, whose cells thereby count as empty, and returns it. The last one
 * is kept at `cell`; when the number wraps, the table is cleared.
 */
export function advanceGeneration(cell: usize, table: usize, cells: u32): u32 {
  let generation = load<u32>(cell) + 1;
  if (generation == 0) {
    memory.fill(table, 0, <usize>cells << 4);
    generation = 1;
  }
  store<u32>(cell, generation);
  return generation;
}
