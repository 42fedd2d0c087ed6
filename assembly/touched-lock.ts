// Mutex in one shared Int32: 0 free, 1 held, 2 held and somebody may be waiting.
//
// Spins for about a microsecond (a stripe is held for tens of nanoseconds), then sleeps in slices. A slice that runs out
// is a retry; after LOCK_SLICES of them in one call the lock counts as lost (its holder died) and the call gives up.

const SPIN_COUNT: i32 = 200;
const SLICE_NS: i64 = 100_000_000;
const LOCK_SLICES: i32 = 300; // 30 s

@inline
export function tryLock(word: usize): bool {
  return atomic.cmpxchg<i32>(word, 0, 1) == 0;
}

@inline
export function lock(word: usize): bool {
  return atomic.cmpxchg<i32>(word, 0, 1) == 0 ? true : lockSlow(word);
}

/** Tries for a bounded time and never sleeps: for a second lock taken out of order, where waiting could be for ever. */
export function lockBriefly(word: usize): bool {
  for (let spin = 0; spin < SPIN_COUNT; spin++) {
    if (atomic.load<i32>(word) == 0 && tryLock(word)) return true;
  }
  return false;
}

function lockSlow(word: usize): bool {
  if (lockBriefly(word)) return true;
  let slices = 0;
  while (slices < LOCK_SLICES) {
    if (atomic.xchg<i32>(word, 2) == 0) return true;
    // 2 is "timed out"; a wake-up that lost the race to another thread is no sign of a dead holder.
    if (atomic.wait<i32>(word, 2, SLICE_NS) == 2) slices++;
  }
  return false;
}

@inline
export function unlock(word: usize): void {
  if (atomic.xchg<i32>(word, 0) == 2) atomic.notify(word, 1);
}
