/** @file The trace rings of a session: one for the main thread, one per pool thread, further ones on request. */
import type { Arena } from '../../memory/arena.js';
import type { Views } from '../../memory/views.js';
import { addLiveTrace } from '../../trace/live-traces.js';
import { TraceNames } from '../../trace/trace-names.js';
import { TraceRing } from '../../trace/trace-ring.js';

export interface TracedThread {
  readonly name: string;
  readonly ring: TraceRing;
}

export class SessionTrace {
  readonly names = new TraceNames();
  readonly threads: TracedThread[] = [];
  /** Ring of the main thread, null when nothing is traced. */
  readonly main: TraceRing | null;
  readonly poolRings: readonly number[];
  readonly waitName: number;
  readonly stepName: number;
  readonly #views: Views;
  readonly #arena: Arena;
  readonly #capacity: number;
  /** Ends what others may see of it. */
  readonly close: () => void;

  /** `capacity` events per ring, rounded up to a power of two; 0 traces nothing. */
  constructor(views: Views, arena: Arena, poolThreads: number, capacity: number) {
    this.#views = views;
    this.#arena = arena;
    this.#capacity = capacity === 0 ? 0 : 2 ** Math.ceil(Math.log2(capacity));
    this.waitName = this.names.id('wait for a command', 'wait');
    this.stepName = this.names.id('wait for the step', 'wait');
    this.main = this.addThread('main');
    this.close = capacity === 0 ? () => undefined : addLiveTrace(this);
    this.poolRings = Array.from({ length: poolThreads }, (_, thread) => this.addThread(`pool ${thread}`)?.ptr ?? 0);
  }

  get on(): boolean {
    return this.#capacity > 0;
  }

  /** A ring for one more thread, which must call `bindClock` before it writes; null when nothing is traced. */
  addThread(name: string): TraceRing | null {
    if (this.#capacity === 0) return null;
    const bytes = TraceRing.bytesFor(this.#capacity);
    const ring = TraceRing.create(this.#views, this.#arena.alloc(bytes, `trace of ${name}`), {
      capacity: this.#capacity,
      thread: this.threads.length,
      // Who switched the others off means this one too.
      on: this.main?.on ?? true,
    });
    this.threads.push({ name, ring });
    return ring;
  }
}
