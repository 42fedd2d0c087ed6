/**
 * @file An event ring as the threads that run JavaScript use it: main, data readers, the drivers of kernels.
 *
 * Kernels write the same ring through its pointer (assembly/trace.ts). A ring belongs to one thread.
 */
import { MonolithError } from '../base/errors.js';
import { TRACE_HEADER_BYTES, TRACE_RING, traceRingBytes } from '../memory/trace-layout.js';
import { type Views, view } from '../memory/views.js';
import { measureClockOriginMs } from './trace-clock.js';
import { traceBegin, traceCounter, traceEnd, traceInstant, traceNow, traceOn, traceSpan } from './trace-events.js';

export interface TraceRingOptions {
  /** Events kept, a power of two. */
  readonly capacity: number;
  /** Index of the thread that will write. */
  readonly thread: number;
  /** Whether it starts to record at once. Default: true. */
  readonly on?: boolean;
}

/**
 * A ring at `ptr` of a shared memory.
 *
 * ```ts
 * const ring = TraceRing.create(views, arena.alloc(TraceRing.bytesFor(4096), 'trace'), { capacity: 4096, thread: 0 });
 * const start = ring.now();
 * work();
 * ring.span(names.id('work', 'op'), start, ring.now());
 * ```
 */
export class TraceRing {
  readonly views: Views;
  readonly ptr: number;
  readonly capacity: number;

  private constructor(views: Views, ptr: number) {
    const header = view(Uint32Array, views.buffer, ptr, TRACE_HEADER_BYTES / 4, 'trace ring');
    const capacity = header[TRACE_RING.capacity]!;
    checkCapacity(ptr, capacity);
    view(Float64Array, views.buffer, ptr, traceRingBytes(capacity) / 8, 'trace ring');
    this.views = views;
    this.ptr = ptr;
    this.capacity = capacity;
  }

  static bytesFor(capacity: number): number {
    return traceRingBytes(capacity);
  }

  /** Lays an empty ring out at `ptr`, with the clock of the calling thread. */
  static create(views: Views, ptr: number, options: TraceRingOptions): TraceRing {
    checkCapacity(ptr, options.capacity);
    const header = view(Uint32Array, views.buffer, ptr, TRACE_HEADER_BYTES / 4, 'trace ring').fill(0);
    header[TRACE_RING.capacity] = options.capacity;
    header[TRACE_RING.thread] = options.thread;
    const ring = new TraceRing(views, ptr);
    ring.bindClock();
    ring.on = options.on ?? true;
    return ring;
  }

  /** The ring another thread laid out. A thread that is going to write calls `bindClock` next. */
  static attach(views: Views, ptr: number): TraceRing {
    return new TraceRing(views, ptr);
  }

  /** Ties the ring to the clock of the calling thread, which must be the one that writes, before it writes. */
  bindClock(): void {
    this.views.f64[(this.ptr + 4 * TRACE_RING.origin) / 8] = measureClockOriginMs();
  }

  get thread(): number {
    return this.#word(TRACE_RING.thread);
  }

  get on(): boolean {
    return traceOn(this.views, this.ptr);
  }

  set on(on: boolean) {
    Atomics.store(this.views.u32, this.ptr / 4 + TRACE_RING.on, on ? 1 : 0);
  }

  /** Events ever written. */
  get written(): number {
    // The counter before its wraps: read in between, a wrap makes the result too large for a moment, never too small.
    const low = Atomics.load(this.views.u32, this.ptr / 4 + TRACE_RING.written);
    return this.#word(TRACE_RING.wraps) * 2 ** 32 + low;
  }

  /** Events overwritten by newer ones. */
  get lost(): number {
    return Math.max(0, this.written - this.capacity);
  }

  /** Milliseconds to add to the times in the ring. */
  get originMs(): number {
    return this.views.f64[(this.ptr + 4 * TRACE_RING.origin) / 8]!;
  }

  /** The time to hand to the calls below, or 0 when nothing is recorded. */
  now(): number {
    return traceNow(this.views, this.ptr);
  }

  span(nameId: number, startMs: number, endMs: number): void {
    traceSpan(this.views, this.ptr, nameId, startMs, endMs);
  }

  counter(nameId: number, value: number, timeMs: number): void {
    traceCounter(this.views, this.ptr, nameId, value, timeMs);
  }

  instant(nameId: number, argument: number, timeMs: number): void {
    traceInstant(this.views, this.ptr, nameId, argument, timeMs);
  }

  begin(nameId: number, argument: number, timeMs: number): void {
    traceBegin(this.views, this.ptr, nameId, argument, timeMs);
  }

  end(nameId: number, argument: number, timeMs: number): void {
    traceEnd(this.views, this.ptr, nameId, argument, timeMs);
  }

  #word(index: number): number {
    return this.views.u32[this.ptr / 4 + index]!;
  }
}

function checkCapacity(ptr: number, capacity: number): void {
  const powerOfTwo =
    Number.isInteger(capacity) && capacity >= 1 && capacity <= 2 ** 27 && Math.log2(capacity) % 1 === 0;
  if (powerOfTwo && ptr !== 0) return;
  const reason = ptr === 0 ? 'a ring cannot be at the null pointer' : `capacity ${capacity} is not a power of two`;
  throw new MonolithError('ML_BOUNDS', { name: 'trace ring', offset: ptr, bytes: TRACE_HEADER_BYTES, reason });
}
