/** @file How the backends of the CPU cut a batch: a slice for each thread, or a fixed number. */
import type { AskedSlices, Slices } from './backend.js';

/** Slices of a batch when results must not depend on the number of threads. */
const DETERMINISTIC_SLICES = 16;

export function sliceForThreads({ threads, deterministic }: AskedSlices): Slices {
  return { threads, slices: deterministic ? DETERMINISTIC_SLICES : threads };
}
