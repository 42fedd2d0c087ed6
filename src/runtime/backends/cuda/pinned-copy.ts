/** @file A copy of a step: its pinned memory, its mark, and views of the sizes it may have, made once. */
import { ON_HOST } from '../../../memory/placement-layout.js';
import type { Device, DeviceMark } from './device.js';
import type { DeviceBlock } from './device-memory.js';
import type { Extent, Side } from './step-plan.js';

/** Sizes are rounded up to so many parts of the whole, so that no view is made in a step. */
const PARTS = 16;

export class PinnedCopy {
  readonly to: Side;
  readonly mark: DeviceMark;
  readonly block: DeviceBlock;
  readonly #device: Device;
  readonly #extent: Extent | undefined;
  readonly #unit: number;
  readonly #bytes: number;
  readonly #pinned: readonly Uint8Array[];
  readonly #host: readonly Uint8Array[];
  #parts = 0;

  /** `pinned` is of the block's size; without a host copy the caller fills it. */
  constructor(device: Device, block: DeviceBlock, to: Side, pinned: Uint8Array, extent: Extent | undefined) {
    this.#device = device;
    this.block = block;
    this.to = to;
    this.#extent = extent;
    this.mark = device.mark();
    this.#bytes = pinned.byteLength;
    this.#unit = Math.ceil(this.#bytes / PARTS / 64) * 64;
    const views = (whole: Uint8Array) =>
      Array.from({ length: PARTS + 1 }, (_, part) => whole.subarray(0, Math.min(this.#bytes, part * this.#unit)));
    this.#pinned = views(pinned);
    this.#host = block.host.length === 0 ? [] : views(block.host);
  }

  /** Puts the copy on the copy queue and marks it. Nothing is moved when there is nothing. */
  start(u32: Uint32Array): void {
    this.#parts = Math.ceil(this.#size(u32) / this.#unit);
    if (this.#parts > 0) {
      const pinned = this.#pinned[this.#parts]!;
      if (this.to === 'host') this.#device.download(pinned, this.block.span);
      else {
        if (this.#host.length > 0) pinned.set(this.#host[this.#parts]!);
        this.#device.upload(this.block.span, pinned);
      }
    }
    this.#device.record('copy', this.mark);
  }

  /** After a copy to the host is done: from the pinned memory to its place. */
  deliver(): void {
    if (this.#parts > 0) this.#host[this.#parts]!.set(this.#pinned[this.#parts]!);
    this.block.validity |= ON_HOST;
  }

  #size(u32: Uint32Array): number {
    if (this.#extent === undefined) return this.#bytes;
    let bytes = this.#extent.scale;
    for (const word of this.#extent.words) bytes *= u32[word]!;
    return Math.min(bytes, this.#bytes);
  }
}
