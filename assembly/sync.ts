// Locks and the step barrier. A wait spins briefly and then sleeps. At the barrier an abort is noticed; a lock is held
// for microseconds, and who waits for one whose owner died is ended together with the pool.
const LOCK_SPINS: i32 = 4000;
const SLICE_NS: i64 = 20_000_000;

/** Takes the lock word at `p` (0 free, 1 held, 2 held with sleepers). */
export function lock(p: usize): void {
  if (atomic.cmpxchg<i32>(p, 0, 1) == 0) return;
  for (let i = 0; i < LOCK_SPINS; i++) {
    if (load<i32>(p) == 0 && atomic.cmpxchg<i32>(p, 0, 1) == 0) return;
  }
  while (atomic.xchg<i32>(p, 2) != 0) atomic.wait<i32>(p, 2, SLICE_NS);
}

export function unlock(p: usize): void {
  if (atomic.xchg<i32>(p, 0) == 2) atomic.notify(p, 1);
}

// Control block of a session, i32 words; src/memory/control-layout.ts draws it.
const CONTROL_DONE: usize = 4;
const CONTROL_ABORT: usize = 8;
const CONTROL_SPINS: usize = 16;
const CONTROL_ARRIVED: usize = 64;
const CONTROL_GENERATION: usize = 128;

/**
 * Waits until `threads` threads have arrived; false when the session was aborted meanwhile. The last one to arrive lets
 * the others go, then stores `publish` as the finished command when it is not 0, and wakes whoever awaits it unless
 * `quiet`. A later command cannot be published before: its barrier needs this thread too.
 */
export function barrier(control: usize, threads: i32, publish: i32, quiet: bool): bool {
  const generation = atomic.load<i32>(control + CONTROL_GENERATION);
  if (atomic.add<i32>(control + CONTROL_ARRIVED, 1) == threads - 1) {
    atomic.store<i32>(control + CONTROL_ARRIVED, 0);
    atomic.add<i32>(control + CONTROL_GENERATION, 1);
    if (threads > 1) atomic.notify(control + CONTROL_GENERATION, -1);
    if (publish != 0) {
      atomic.store<i32>(control + CONTROL_DONE, publish);
      if (!quiet) atomic.notify(control + CONTROL_DONE, -1);
    }
    return atomic.load<i32>(control + CONTROL_ABORT) == 0;
  }
  let open = false;
  const spins = load<i32>(control + CONTROL_SPINS);
  for (let i = 0; i < spins; i++) {
    if (atomic.load<i32>(control + CONTROL_GENERATION) != generation) {
      open = true;
      break;
    }
  }
  while (!open) {
    if (atomic.load<i32>(control + CONTROL_ABORT) != 0) return false;
    atomic.wait<i32>(control + CONTROL_GENERATION, generation, SLICE_NS);
    open = atomic.load<i32>(control + CONTROL_GENERATION) != generation;
  }
  return atomic.load<i32>(control + CONTROL_ABORT) == 0;
}
