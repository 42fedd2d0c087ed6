/**
 * @file Bounded first-in first-out ring of fixed-size slots in shared memory, for any number of pushing and popping
 * threads.
 *
 * Lock-free while there is something to do, asleep while there is not. Written by hand because it is hot, and because
 * the library at hand, ringbuf.js, is for one producer and one consumer and spins. The layout is drawn in
 * `shared-ring-layout.ts`, the claims and wake-ups are in `shared-ring-core.ts`.
 *
 * A thread that dies between claim and publish leaves its slot unfinished: those who wait for it run into their limit,
 * and whoever notices the death cancels the ring.
 */
import assert from 'node:assert/strict';
import { isMainThread } from 'node:worker_threads';
import { MonolithError } from '../base/errors.js';
import { CACHE_LINE } from './arena.js';
import { type CancelReason, POP, PUSH, RingCore } from './shared-ring-core.js';
import * as L from './shared-ring-layout.js';
import { view } from './views.js';

export { CancelReason } from './shared-ring-core.js';

export interface RingOptions {
  readonly capacity: number;
  /** A multiple of 4. */
  readonly slotBytes: number;
  /** Names the ring in errors; up to 32 bytes. */
  readonly name?: string;
  /**
   * Sleeping pushers are woken when no more than this many items are left, not at every pop: a pusher then fills many
   * slots per wake-up. Default: one less than the capacity.
   */
  readonly lowWater?: number;
  /** Where positions begin. Only a test of the wrap-around needs another than 0. */
  readonly firstPosition?: number;
}

export interface RingStats {
  readonly size: number;
  readonly capacity: number;
  /** Since creation, modulo 2^31. */
  readonly pushes: number;
  readonly pops: number;
  /** How often someone had to wait. */
  readonly pushWaits: number;
  readonly popWaits: number;
}

/** Where a payload is copied to. */
export type SlotWords = Int32Array | Uint32Array;

/**
 * Calls that would block have a limit and fail with ML_TIMEOUT; every call fails with ML_CANCELLED once the ring is
 * cancelled, and with ML_CLOSED when it is closed and, for a pop, drained.
 *
 * ```ts
 * const ring = SharedRing.create(buffer, 0, { capacity: 8, slotBytes: 4, name: 'batches' });
 * ring.tryPushU32(4096); // on one thread
 * SharedRing.attach(buffer, 0).tryPopU32(); // on another: 4096
 * ```
 */
export class SharedRing {
  readonly #core: RingCore;
  readonly #words: Int32Array;
  readonly #slotWords: number;

  private constructor(core: RingCore) {
    this.#core = core;
    this.#words = core.words;
    this.#slotWords = core.slotWords;
  }

  /** Bytes of shared memory a ring needs. */
  static bytesFor(capacity: number, slotBytes: number): number {
    return L.ringBytesFor(capacity, slotBytes);
  }

  /** Makes an empty ring at `offset`, a multiple of 64. No other thread may use the region yet. */
  static create(buffer: SharedArrayBuffer, offset: number, options: RingOptions): SharedRing {
    const { capacity, slotBytes, name = 'ring', lowWater = capacity - 1, firstPosition = 0 } = options;
    assert(offset % CACHE_LINE === 0, 'a ring starts a cache line');
    assert(lowWater >= 0 && lowWater < capacity, 'low water is below the capacity');
    const words = view(Int32Array, buffer, offset, L.ringBytesFor(capacity, slotBytes) / 4, name).fill(0);
    const slotCount = L.slotCountFor(capacity);
    const first = firstPosition & ~L.CLOSED_BIT;
    words[L.CAPACITY] = capacity;
    words[L.SLOT_COUNT] = slotCount;
    words[L.SLOT_WORDS] = slotBytes / 4;
    words[L.LOW_WATER] = lowWater;
    words[L.FIRST_POSITION] = first;
    words[L.HEAD] = first;
    words[L.TAIL] = first;
    L.writeName(words, name);
    const core = new RingCore(words);
    for (let i = 0; i < slotCount; i++) {
      const position = (first + i * L.STEP) | 0;
      words[core.slotOf(position)] = position;
    }
    Atomics.store(words, L.MAGIC, L.RING_MAGIC);
    return new SharedRing(core);
  }

  /** The ring that was made at `offset`, by any thread. */
  static attach(buffer: SharedArrayBuffer, offset: number): SharedRing {
    const header = view(Int32Array, buffer, offset, L.SLOTS, 'ring header');
    if (Atomics.load(header, L.MAGIC) !== L.RING_MAGIC) {
      throw new MonolithError('ML_BOUNDS', { name: 'ring', offset, bytes: L.SLOTS * 4, reason: 'there is no ring' });
    }
    const bytes = L.ringBytesFor(header[L.CAPACITY]!, header[L.SLOT_WORDS]! * 4);
    return new SharedRing(new RingCore(view(Int32Array, buffer, offset, bytes / 4, 'ring')));
  }

  get name(): string {
    return this.#core.name;
  }

  get capacity(): number {
    return this.#core.capacity;
  }

  get slotBytes(): number {
    return this.#slotWords * 4;
  }

  /** Items pushed and not yet popped; a moment's view while others are at work. */
  get size(): number {
    const tail = Atomics.load(this.#words, L.TAIL);
    return Math.min(Math.max((this.#core.head() - tail) >> 1, 0), this.capacity);
  }

  get closed(): boolean {
    return (Atomics.load(this.#words, L.HEAD) & L.CLOSED_BIT) !== 0;
  }

  /** The reason given to `cancel`, else 0. */
  get cancelled(): number {
    return Atomics.load(this.#words, L.CANCELLED);
  }

  /** Makes asynchronous waits of this thread poll, as they do where `Atomics.waitAsync` is missing. */
  set polling(polling: boolean) {
    this.#core.polling = polling;
  }

  stats(): RingStats {
    const words = this.#words;
    const first = words[L.FIRST_POSITION]!;
    return {
      size: this.size,
      capacity: this.capacity,
      pushes: (this.#core.head() - first) >>> 1,
      pops: (Atomics.load(words, L.TAIL) - first) >>> 1,
      pushWaits: Atomics.load(words, L.PUSH_WAITS),
      popWaits: Atomics.load(words, L.POP_WAITS),
    };
  }

  /** Copies the words of one slot in; false when the ring is full. */
  tryPush(words: ArrayLike<number>): boolean {
    const slot = this.#core.claimPush();
    if (slot < 0) return false;
    for (let i = 0; i < this.#slotWords; i++) this.#words[slot + 1 + i] = words[i]!;
    this.#core.publish(slot);
    return true;
  }

  /** Copies the oldest slot out; false when there is none yet. */
  tryPop(into: SlotWords): boolean {
    const slot = this.#core.claimPop();
    if (slot < 0) return false;
    for (let i = 0; i < this.#slotWords; i++) into[i] = this.#words[slot + 1 + i]!;
    this.#core.release(slot);
    return true;
  }

  /** `tryPush` of one word, for rings of one word per slot. */
  tryPushU32(value: number): boolean {
    const slot = this.#core.claimPush();
    if (slot < 0) return false;
    this.#words[slot + 1] = value;
    this.#core.publish(slot);
    return true;
  }

  /** The word of the oldest slot, or -1 when there is none yet. */
  tryPopU32(): number {
    const slot = this.#core.claimPop();
    if (slot < 0) return -1;
    const value = this.#words[slot + 1]! >>> 0;
    this.#core.release(slot);
    return value;
  }

  /** Pushes, asleep until there is space. Not for the main thread. */
  push(words: ArrayLike<number>, timeoutMs: number): void {
    assertMayBlock();
    if (this.tryPush(words)) return;
    const endMs = endOfWait(timeoutMs);
    while (!this.tryPush(words)) this.#core.sleep(PUSH, endMs, timeoutMs);
  }

  /** Pops, asleep until there is an item. Not for the main thread. */
  pop(into: SlotWords, timeoutMs: number): void {
    assertMayBlock();
    if (this.tryPop(into)) return;
    const endMs = endOfWait(timeoutMs);
    while (!this.tryPop(into)) this.#core.sleep(POP, endMs, timeoutMs);
  }

  pushU32(value: number, timeoutMs: number): void {
    assertMayBlock();
    if (this.tryPushU32(value)) return;
    const endMs = endOfWait(timeoutMs);
    while (!this.tryPushU32(value)) this.#core.sleep(PUSH, endMs, timeoutMs);
  }

  popU32(timeoutMs: number): number {
    assertMayBlock();
    let value = this.tryPopU32();
    if (value >= 0) return value;
    const endMs = endOfWait(timeoutMs);
    while (value < 0) {
      this.#core.sleep(POP, endMs, timeoutMs);
      value = this.tryPopU32();
    }
    return value;
  }

  /** Pushes when there is space; the event loop runs meanwhile. An aborted signal ends the wait with ML_CANCELLED. */
  async pushAsync(words: ArrayLike<number>, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const endMs = endOfWait(timeoutMs);
    while (!this.tryPush(words)) await this.#core.wait(PUSH, endMs, timeoutMs, signal);
  }

  async popAsync(into: SlotWords, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const endMs = endOfWait(timeoutMs);
    while (!this.tryPop(into)) await this.#core.wait(POP, endMs, timeoutMs, signal);
  }

  async pushU32Async(value: number, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const endMs = endOfWait(timeoutMs);
    while (!this.tryPushU32(value)) await this.#core.wait(PUSH, endMs, timeoutMs, signal);
  }

  async popU32Async(timeoutMs: number, signal?: AbortSignal): Promise<number> {
    const endMs = endOfWait(timeoutMs);
    for (;;) {
      const value = this.tryPopU32();
      if (value >= 0) return value;
      await this.#core.wait(POP, endMs, timeoutMs, signal);
    }
  }

  /** Waits until a push would not be told to wait; false when the time is over or the signal aborts first. */
  waitForSpace(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    return this.#core.waitReady(PUSH, endOfWait(timeoutMs) - performance.now(), signal);
  }

  /** Ends the input: pushes fail from here on, pops do once the ring is drained. */
  close(): void {
    Atomics.or(this.#words, L.HEAD, L.CLOSED_BIT);
    this.#core.wake(POP);
    this.#core.wake(PUSH);
  }

  /** Takes `close` back. No other thread may be pushing or waiting. */
  reopen(): void {
    Atomics.and(this.#words, L.HEAD, ~L.CLOSED_BIT);
  }

  /** Ends everything at once; what is left in the ring is not delivered. The first reason is kept. */
  cancel(reason: CancelReason): void {
    Atomics.compareExchange(this.#words, L.CANCELLED, 0, reason);
    this.close();
  }
}

function assertMayBlock(): void {
  assert(!isMainThread, 'the main thread may not block: use the asynchronous calls');
}

function endOfWait(timeoutMs: number): number {
  assert(Number.isFinite(timeoutMs), 'every wait has a limit');
  return performance.now() + timeoutMs;
}
