// Locks and the step barrier. A wait spins briefly and then sleeps in slices. At the barrier an abort is noticed.
//
// A lock is one shared i32: 0 free, 1 held, 2 held and somebody may be waiting.
import { CONTROL } from "./generated/layouts";

const LOCK_SPINS: i32 = 4000;
// About a microsecond, many times what a holder who does a few loads and stores needs.
const BRIEF_SPINS: i32 = 200;
const SLICE_NS: i64 = 20_000_000;
const LOST_SLICES: i32 = 1500; // 30 s

@inline
export function tryLock(p: usize): bool {
  return atomic.cmpxchg<i32>(p, 0, 1) == 0;
}

/** Tries for a bounded time and never sleeps: for a second lock taken out of order, where waiting could be for ever. */
export function lockBriefly(p: usize): bool {
  return spin(p, BRIEF_SPINS);
}

/** Takes the lock, or gives up after half a minute of sleep: it then counts as lost, its holder being dead. */
@inline
export function lockInTime(p: usize): bool {
  return tryLock(p) || lockBriefly(p) || sleep(p);
}

/** Takes the lock, whatever time it takes: who waits for a holder that died is ended together with the pool. */
@inline
export function lock(p: usize): void {
  if (!tryLock(p)) waitForLock(p);
}

function waitForLock(p: usize): void {
  if (spin(p, LOCK_SPINS)) return;
  while (!sleep(p)) {}
}

@inline
export function unlock(p: usize): void {
  if (atomic.xchg<i32>(p, 0) == 2) atomic.notify(p, 1);
}

@inline
function spin(p: usize, spins: i32): bool {
  for (let i = 0; i < spins; i++) {
    if (atomic.load<i32>(p) == 0 && tryLock(p)) return true;
  }
  return false;
}

function sleep(p: usize): bool {
  let slices = 0;
  while (slices < LOST_SLICES) {
    if (atomic.xchg<i32>(p, 2) == 0) return true;
    // 2 is "timed out"; a wake-up that lost the race to another thread is no sign of a dead holder.
    if (atomic.wait<i32>(p, 2, SLICE_NS) == 2) slices++;
  }
  return false;
}

/**
 * Waits until `threads` threads have arrived; false when the session was aborted meanwhile. The last one to arrive lets
 * the others go, then stores `publish` as the finished command when it is not 0, and wakes whoever awaits it unless
 * `quiet`. A later command cannot be published before: its barrier needs this thread too.
 */
export function barrier(control: usize, threads: i32, publish: i32, quiet: bool): bool {
  const generation = atomic.load<i32>(control + CONTROL.generation);
  if (atomic.add<i32>(control + CONTROL.arrived, 1) == threads - 1) {
    atomic.store<i32>(control + CONTROL.arrived, 0);
    atomic.add<i32>(control + CONTROL.generation, 1);
    if (threads > 1) atomic.notify(control + CONTROL.generation, -1);
    if (publish != 0) {
      atomic.store<i32>(control + CONTROL.done, publish);
      if (!quiet) atomic.notify(control + CONTROL.done, -1);
    }
    return atomic.load<i32>(control + CONTROL.abort) == 0;
  }
  let open = false;
  const spins = load<i32>(control + CONTROL.spins);
  for (let i = 0; i < spins; i++) {
    if (atomic.load<i32>(control + CONTROL.generation) != generation) {
      open = true;
      break;
    }
  }
  while (!open) {
    if (atomic.load<i32>(control + CONTROL.abort) != 0) return false;
    atomic.wait<i32>(control + CONTROL.generation, generation, SLICE_NS);
    open = atomic.load<i32>(control + CONTROL.generation) != generation;
  }
  return atomic.load<i32>(control + CONTROL.abort) == 0;
}
