/**
 * @file Times of launches and copies as the device measures them, for the timeline: a ring for each queue.
 *
 * Only steps whose kernels are traced are measured. Marks are made in the first of them and used again.
 */
import type { Views } from '../../../memory/views.js';
import { TraceRing } from '../../../trace/trace-ring.js';
import type { Device, DeviceMark, Queue } from './device.js';

export interface TimelineRings {
  /** Address of the ring of each queue. */
  readonly compute: number;
  readonly copy: number;
  /** Names of copies. */
  readonly toDevice: number;
  readonly toHost: number;
}

interface Span {
  readonly first: DeviceMark;
  readonly last: DeviceMark;
  queue: Queue;
  name: number;
}

export class DeviceTimeline {
  readonly names: TimelineRings;
  readonly #device: Device;
  readonly #rings: Readonly<Record<Queue, TraceRing>>;
  readonly #spans: Span[] = [];
  readonly #origin: DeviceMark;
  #count = 0;
  #originMs = 0;

  constructor(device: Device, views: Views, names: TimelineRings) {
    this.#device = device;
    this.names = names;
    this.#rings = { compute: TraceRing.attach(views, names.compute), copy: TraceRing.attach(views, names.copy) };
    for (const ring of Object.values(this.#rings)) ring.bindClock();
    this.#origin = device.mark({ timed: true });
  }

  /** Times of the step are counted from here. The device has nothing to do at the moment. */
  open(): void {
    this.#count = 0;
    this.#device.record('compute', this.#origin);
    this.#originMs = this.#rings.compute.now();
  }

  /** Begins a span on a queue. */
  begin(queue: Queue, name: number): void {
    let span = this.#spans[this.#count];
    if (span === undefined) {
      const [first, last] = [this.#device.mark({ timed: true }), this.#device.mark({ timed: true })];
      span = { first, last, queue, name };
      this.#spans.push(span);
    }
    span.queue = queue;
    span.name = name;
    this.#device.record(queue, span.first);
  }

  end(): void {
    const { queue, last } = this.#spans[this.#count]!;
    this.#device.record(queue, last);
    this.#count++;
  }

  /** Writes the spans, once the device is through with them. */
  close(): void {
    for (let index = 0; index < this.#count; index++) {
      const { first, last, queue, name } = this.#spans[index]!;
      const start = this.#originMs + this.#device.elapsedMs(this.#origin, first);
      this.#rings[queue].span(name, start, start + this.#device.elapsedMs(first, last));
    }
  }
}
