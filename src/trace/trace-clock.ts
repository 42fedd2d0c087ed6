/**
 * @file One clock for all threads of the process.
 *
 * Events are stamped with performance.now(), the cheapest clock there is on both sides of the WASM boundary, but what
 * its zero is depends on the version of Node: Node 19 counted from the start of each worker (nodejs/node#43781), Node
 * 20 and later count from the start of the process (nodejs/node#46588), the web standard and other runtimes count from
 * the worker. Adding performance.timeOrigin is no cure: it is wall time, so a clock step between two thread starts
 * shifts the rows against each other, and at 1.7e12 ms a double resolves only a quarter of a microsecond.
 *
 * process.hrtime reads the monotonic clock of the machine, the same in every thread. Each thread measures the distance
 * from its performance.now() to it once, when it takes its ring; the reader of the ring adds it.
 */

const SAMPLES_MIN = 16;
/** Enough to find a quiet moment on a machine with more threads than cores. */
const SAMPLES_MAX = 1024;
const WIDTH_WANTED_MS = 0.0005;

function hrtimeMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Milliseconds to add to performance.now() of the calling thread to get the clock the threads share.
 *
 * Both clocks tick alike, so the distance is a constant that every pair of surrounding hrtime reads bounds; the bounds
 * of several pairs are intersected. What is left is well under a microsecond.
 */
export function measureClockOriginMs(): number {
  let low = Number.NEGATIVE_INFINITY;
  let high = Number.POSITIVE_INFINITY;
  for (let i = 0; i < SAMPLES_MIN || (i < SAMPLES_MAX && high - low > WIDTH_WANTED_MS); i++) {
    const before = hrtimeMs();
    const now = performance.now();
    const after = hrtimeMs();
    low = Math.max(low, before - now);
    high = Math.min(high, after - now);
  }
  return (low + high) / 2;
}
