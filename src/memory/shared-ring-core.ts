/**
 * @file The lock-free part of a shared ring: claiming and handing over slots, sleeping and waking.
 *
 * Each slot has a sequence number (after D. Vyukov's bounded queue): a claim is one compare-and-swap of head or tail, a
 * payload is published by one atomic store of the sequence. `SharedRing` is the face of it; the words are drawn in
 * `shared-ring-layout.ts`. Nothing here allocates unless it waits or fails.
 */
import { MonolithError } from '../base/errors.js';
import * as L from './shared-ring-layout.js';
import { waitForChange } from './wait-for-change.js';

/** Why a ring was cancelled. */
export const CancelReason = { stopped: 1, failed: 2, died: 3 } as const;
export type CancelReason = (typeof CancelReason)[keyof typeof CancelReason];

/** The words that one kind of waiter sleeps on and is counted in. */
export interface Side {
  readonly verb: string;
  readonly event: number;
  readonly waiters: number;
  readonly waits: number;
}
export const PUSH: Side = { verb: 'push to', event: L.SPACE_EVENT, waiters: L.PUSH_WAITERS, waits: L.PUSH_WAITS };
export const POP: Side = { verb: 'pop from', event: L.ITEM_EVENT, waiters: L.POP_WAITERS, waits: L.POP_WAITS };

/** Looks before a thread goes to sleep: waking costs tens of microseconds, this about one. */
const SPIN_COUNT = 100;

export class RingCore {
  readonly words: Int32Array;
  readonly name: string;
  readonly capacity: number;
  readonly slotWords: number;
  /** Makes asynchronous waits poll, as they do where `Atomics.waitAsync` is missing. */
  polling = false;
  readonly #slotMask: number;
  readonly #strideWords: number;
  /** What a position grows by until it meets its slot again. */
  readonly #lap: number;
  readonly #lowWater: number;
  /** The capacity is less than the slot count, so a push compares head and tail as well. */
  readonly #partial: boolean;

  constructor(words: Int32Array) {
    const slotCount = words[L.SLOT_COUNT]!;
    this.words = words;
    this.name = L.readName(words);
    this.capacity = words[L.CAPACITY]!;
    this.slotWords = words[L.SLOT_WORDS]!;
    this.#slotMask = slotCount - 1;
    this.#strideWords = this.slotWords + 1;
    this.#lap = slotCount * L.STEP;
    this.#lowWater = words[L.LOW_WATER]!;
    this.#partial = this.capacity !== slotCount;
  }

  /** The slot for the next push, now owned by the caller, or -1 when the ring is full. */
  claimPush(): number {
    const words = this.words;
    for (;;) {
      const head = Atomics.load(words, L.HEAD);
      if ((head & L.CLOSED_BIT) !== 0) throw this.ended();
      if (this.#partial && ((head - Atomics.load(words, L.TAIL)) | 0) >= this.capacity * L.STEP) return -1;
      const slot = this.slotOf(head);
      const lead = (Atomics.load(words, slot) - head) | 0;
      if (lead < 0) return -1;
      // A lead above 0 means that another thread pushed here since the head was read.
      if (lead === 0 && Atomics.compareExchange(words, L.HEAD, head, (head + L.STEP) | 0) === head) return slot;
    }
  }

  /** The slot for the next pop, now owned by the caller, or -1 when the oldest item is not there yet. */
  claimPop(): number {
    const words = this.words;
    for (;;) {
      if (Atomics.load(words, L.CANCELLED) !== 0) throw this.ended();
      const tail = Atomics.load(words, L.TAIL);
      const slot = this.slotOf(tail);
      const lead = (Atomics.load(words, slot) - (tail + 1)) | 0;
      if (lead < 0) {
        // Closed with head and tail level: nothing is on its way. Otherwise a push has claimed and not yet published.
        if (Atomics.load(words, L.HEAD) === (tail | L.CLOSED_BIT)) throw this.ended();
        return -1;
      }
      if (lead === 0 && Atomics.compareExchange(words, L.TAIL, tail, (tail + L.STEP) | 0) === tail) return slot;
    }
  }

  publish(slot: number): void {
    Atomics.store(this.words, slot, (this.words[slot]! + 1) | 0);
    // Read after the store: a popper counts itself before it looks at the slot, so one of the two sees the other.
    if (Atomics.load(this.words, L.POP_WAITERS) !== 0) this.wake(POP);
  }

  release(slot: number): void {
    Atomics.store(this.words, slot, (this.words[slot]! - 1 + this.#lap) | 0);
    if (Atomics.load(this.words, L.PUSH_WAITERS) === 0) return;
    // The tail as it is now, not this pop's own: when pops finish out of order, the last to finish must do the waking.
    if ((this.head() - Atomics.load(this.words, L.TAIL)) >> 1 <= this.#lowWater) this.wake(PUSH);
  }

  /** Wakes everyone: a single wake-up could go to an asynchronous waiter that has given up and cannot be withdrawn. */
  wake(side: Side): void {
    Atomics.add(this.words, side.event, 1);
    Atomics.notify(this.words, side.event);
  }

  /** Whether a try would now do something else than say "not yet". */
  ready(side: Side): boolean {
    const words = this.words;
    if (side === POP) {
      const tail = Atomics.load(words, L.TAIL);
      if (Atomics.load(words, L.CANCELLED) !== 0 || Atomics.load(words, L.HEAD) === (tail | L.CLOSED_BIT)) return true;
      return ((Atomics.load(words, this.slotOf(tail)) - (tail + 1)) | 0) >= 0;
    }
    const head = Atomics.load(words, L.HEAD);
    if ((head & L.CLOSED_BIT) !== 0) return true;
    if (this.#partial && ((head - Atomics.load(words, L.TAIL)) | 0) >= this.capacity * L.STEP) return false;
    return ((Atomics.load(words, this.slotOf(head)) - head) | 0) >= 0;
  }

  sleep(side: Side, endMs: number, timeoutMs: number): void {
    for (let i = 0; i < SPIN_COUNT; i++) if (this.ready(side)) return;
    Atomics.add(this.words, side.waits, 1);
    Atomics.add(this.words, side.waiters, 1);
    const event = Atomics.load(this.words, side.event);
    const leftMs = endMs - performance.now();
    if (!this.ready(side) && leftMs > 0) Atomics.wait(this.words, side.event, event, leftMs);
    Atomics.sub(this.words, side.waiters, 1);
    if (leftMs <= 0 && !this.ready(side)) throw this.late(side, timeoutMs);
  }

  /** One wait of the event loop; throws when the time is over. */
  async wait(side: Side, endMs: number, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw new MonolithError('ML_CANCELLED', { what: this.what(), reason: 'the caller gave up' });
    if (!(await this.waitReady(side, endMs - performance.now(), signal))) {
      if (signal?.aborted !== true && performance.now() >= endMs) throw this.late(side, timeoutMs);
    }
  }

  async waitReady(side: Side, timeoutMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    Atomics.add(this.words, side.waits, 1);
    Atomics.add(this.words, side.waiters, 1);
    const event = Atomics.load(this.words, side.event);
    try {
      if (this.ready(side)) return true;
      await waitForChange(this.words, side.event, event, { timeoutMs, signal, polling: this.polling });
      return this.ready(side);
    } finally {
      Atomics.sub(this.words, side.waiters, 1);
    }
  }

  slotOf(position: number): number {
    return L.SLOTS + ((position >>> 1) & this.#slotMask) * this.#strideWords;
  }

  head(): number {
    return Atomics.load(this.words, L.HEAD) & ~L.CLOSED_BIT;
  }

  what(): string {
    return `ring ${this.name}`;
  }

  ended(): MonolithError {
    const code = Atomics.load(this.words, L.CANCELLED);
    if (code === 0) return new MonolithError('ML_CLOSED', { what: this.what() });
    const reason = Object.entries(CancelReason).find(([, value]) => value === code)?.[0] ?? `reason ${code}`;
    return new MonolithError('ML_CANCELLED', { what: this.what(), reason, reasonCode: code });
  }

  late(side: Side, timeoutMs: number): MonolithError {
    return new MonolithError('ML_TIMEOUT', { what: `${side.verb} ${this.what()}`, timeoutMs, capacity: this.capacity });
  }
}
