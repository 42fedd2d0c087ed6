/**
 * @file The blocks of a session's arena that have a copy on the device, and which copy of each is the newest.
 *
 * A block gets its device memory on first use and keeps it as long as the session lives: steps allocate nothing. Of
 * variables the main thread knows the same, by words of the shared memory.
 */
import { MonolithError } from '../../../base/errors.js';
import { ON_DEVICE, ON_HOST, RESIDENT } from '../../../memory/placement-layout.js';
import type { Views } from '../../../memory/views.js';
import type { Device, DeviceSpan } from './device.js';

/** A block of the arena, or one that has no place there. */
export class DeviceBlock {
  readonly span: DeviceSpan;
  /** The block on the host; of blocks outside of the arena, nothing. */
  readonly host: Uint8Array;
  readonly #views: Views;
  /** Word of its record when it is a resident, else 0. */
  readonly #record: number;
  #validity = ON_HOST;

  constructor(span: DeviceSpan, host: Uint8Array, views: Views, record: number) {
    this.span = span;
    this.host = host;
    this.#views = views;
    this.#record = record;
    if (record === 0) return;
    views.u32[record + RESIDENT.deviceLow] = span.address % 2 ** 32;
    views.u32[record + RESIDENT.deviceHigh] = Math.floor(span.address / 2 ** 32);
  }

  get validity(): number {
    return this.#record === 0 ? this.#validity : this.#views.u32[this.#record + RESIDENT.validity]!;
  }

  set validity(validity: number) {
    if (this.#record === 0) this.#validity = validity;
    else this.#views.u32[this.#record + RESIDENT.validity] = validity;
  }
}

const NOTHING = new Uint8Array(0);

export class DeviceMemory {
  readonly #device: Device;
  readonly #views: Views;
  readonly #blocks = new Map<number, DeviceBlock>();
  #bytes = 0;
  /** What was allocated since `begin` and is no block of the arena. */
  #apart: DeviceSpan[] = [];

  constructor(device: Device, views: Views) {
    this.#device = device;
    this.#views = views;
  }

  /** The block that begins at an address of the arena. `records` are the words of residents. */
  ofArena(begin: number, bytes: number, records: ReadonlyMap<number, number>): DeviceBlock {
    let block = this.#blocks.get(begin);
    if (block === undefined) {
      const host = this.#views.u8.subarray(begin, begin + bytes);
      block = new DeviceBlock(this.alloc(bytes), host, this.#views, records.get(begin) ?? 0);
      this.#blocks.set(begin, block);
    }
    return block;
  }

  /** The block that begins there, when it has a copy on the device. */
  known(begin: number): DeviceBlock | undefined {
    return this.#blocks.get(begin);
  }

  /** A block that only the device has. */
  apart(bytes: number): DeviceBlock {
    return new DeviceBlock(this.allocApart(bytes), NOTHING, this.#views, 0);
  }

  allocApart(bytes: number): DeviceSpan {
    const span = this.alloc(bytes);
    this.#apart.push(span);
    return span;
  }

  /** From here on `undo` can take back what is not of the arena. */
  begin(): void {
    this.#apart = [];
  }

  undo(): void {
    for (const span of this.#apart) this.free(span);
    this.#apart = [];
  }

  /** Waits for work that may use it. */
  free(span: DeviceSpan): void {
    this.#device.free(span);
    this.#bytes -= span.size;
  }

  alloc(bytes: number): DeviceSpan {
    try {
      const span = this.#device.alloc(Math.max(16, bytes));
      this.#bytes += span.size;
      return span;
    } catch (thrown) {
      if (!(thrown instanceof MonolithError) || thrown.code !== 'ML_CUDA_MEMORY') throw thrown;
      const reason = `${bytes} bytes are wanted beside the ${this.#bytes} that this session has there`;
      const hint = 'use a smaller batch or model, or free the device from other work';
      throw new MonolithError('ML_CUDA_MEMORY', { ...thrown.fields, reason }, { hint, cause: thrown });
    }
  }

  /** Makes the host's copy of everything the newest. */
  bringHome(): void {
    for (const block of this.#blocks.values()) {
      if (block.validity & ON_HOST) continue;
      this.#device.downloadNow(block.host, block.span);
      block.validity = ON_HOST | ON_DEVICE;
    }
  }
}
