/** @file Exports of assembly/trace: the writing side of event rings. Kernels call these inline; JavaScript may too. */
export interface TraceKernels {
  /** 1 when events of the ring are recorded. */
  traceOn(ring: number): number;
  /** The time in ms, or 0 when the ring is null or off. */
  traceNow(ring: number): number;
  traceSpan(ring: number, nameId: number, startMs: number, endMs: number): void;
  traceCounter(ring: number, nameId: number, value: number, timeMs: number): void;
  traceInstant(ring: number, nameId: number, argument: number, timeMs: number): void;
}
