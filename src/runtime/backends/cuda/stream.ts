/**
 * @file Streams and events: work of one stream runs in order, streams run side by side, events order them.
 *
 * Copies are asynchronous: host memory must not be written (to the device) or read (from it) before the stream has been
 * synchronised. A stream keeps the buffers of its copies alive until then. Calls that steps make catch failures
 * themselves instead of by `guarded`: a closure for each copy and event would be garbage of every step.
 */
import { cudaError, guarded } from './cuda-errors.js';
import type { DeviceBuffer } from './device-buffer.js';
import { giveBackWhenForgotten, givenBack } from './forgotten.js';
import type { Handle, NativeCuda, View } from './native.js';

export class CudaStream {
  readonly handle: Handle;
  readonly #native: NativeCuda;
  /** Memory of copies that may be under way. */
  readonly #held = new Set<ArrayBufferLike>();

  constructor(native: NativeCuda) {
    this.#native = native;
    const handle = guarded(() => native.streamCreate());
    this.handle = handle;
    const held = this.#held;
    giveBackWhenForgotten(this, () => {
      // Copies that are under way need their memory until here.
      native.streamSynchronize(handle);
      held.clear();
      native.streamDestroy(handle);
    });
  }

  /** Copies all bytes of `from` to byte `offset` of `to`. Asynchronous only from pinned or registered memory. */
  upload(to: DeviceBuffer, from: View, offset = 0): void {
    const address = to.at(offset, from.byteLength);
    this.#held.add(from.buffer);
    try {
      this.#native.copyToDeviceAsync(address, from, this.handle);
    } catch (thrown) {
      throw cudaError(thrown);
    }
  }

  /** Fills all bytes of `to` from byte `offset` of `from`. */
  download(to: View, from: DeviceBuffer, offset = 0): void {
    const address = from.at(offset, to.byteLength);
    this.#held.add(to.buffer);
    try {
      this.#native.copyToHostAsync(to, address, this.handle);
    } catch (thrown) {
      throw cudaError(thrown);
    }
  }

  /** Copies `bytes` from one place of device memory to another; they must not overlap. */
  copy(to: DeviceBuffer, toOffset: number, from: DeviceBuffer, fromOffset: number, bytes: number): void {
    const target = to.at(toOffset, bytes);
    const source = from.at(fromOffset, bytes);
    try {
      this.#native.copyOnDevice(target, source, bytes, this.handle);
    } catch (thrown) {
      throw cudaError(thrown);
    }
  }

  /** Sets `bytes` bytes from `offset` on to a value of 0 to 255. */
  fill(to: DeviceBuffer, value: number, offset = 0, bytes: number = to.size - offset): void {
    const address = to.at(offset, bytes);
    guarded(() => this.#native.fillBytes(address, value & 0xff, bytes, this.handle));
  }

  /** Sets `count` 32-bit words from byte `offset` on to `value`, given as an unsigned integer. */
  fillWords(to: DeviceBuffer, value: number, offset = 0, count: number = (to.size - offset) / 4): void {
    const address = to.at(offset, count * 4);
    guarded(() => this.#native.fillWords(address, value >>> 0, count, this.handle));
  }

  /** Makes later work of this stream wait for what `event` marked. */
  wait(event: CudaEvent): void {
    try {
      this.#native.streamWait(this.handle, event.handle);
    } catch (thrown) {
      throw cudaError(thrown);
    }
  }

  /** Marks this point of the stream. */
  record(event: CudaEvent): void {
    try {
      this.#native.eventRecord(event.handle, this.handle);
    } catch (thrown) {
      throw cudaError(thrown);
    }
  }

  /** Whether all work is done. Failures of kernels come out here too. */
  isDone(): boolean {
    let done: boolean;
    try {
      done = this.#native.streamQuery(this.handle);
    } catch (thrown) {
      throw cudaError(thrown);
    }
    if (done) this.#held.clear();
    return done;
  }

  /** Blocks the calling thread until all work is done. */
  synchronize(): void {
    guarded(() => this.#native.streamSynchronize(this.handle));
    this.#held.clear();
  }

  /** Resolves when all work is done; the calling thread stays free. Put nothing on the stream meanwhile. */
  async finished(): Promise<void> {
    try {
      await this.#native.streamFinished(this.handle);
    } catch (thrown) {
      throw cudaError(thrown);
    }
    this.#held.clear();
  }

  destroy(): void {
    givenBack(this);
    guarded(() => this.#native.streamDestroy(this.handle));
    this.#held.clear();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}

/** A mark in a stream, to wait for or to measure time with. */
export class CudaEvent {
  readonly handle: Handle;
  readonly #native: NativeCuda;

  constructor(native: NativeCuda, options: { readonly timing?: boolean } = {}) {
    this.#native = native;
    const handle = guarded(() => native.eventCreate(options.timing ?? false));
    this.handle = handle;
    giveBackWhenForgotten(this, () => native.eventDestroy(handle));
  }

  isDone(): boolean {
    try {
      return this.#native.eventQuery(this.handle);
    } catch (thrown) {
      throw cudaError(thrown);
    }
  }

  synchronize(): void {
    guarded(() => this.#native.eventSynchronize(this.handle));
  }

  /** Resolves when what it marked last is done; the calling thread stays free. */
  async finished(): Promise<void> {
    try {
      await this.#native.eventFinished(this.handle);
    } catch (thrown) {
      throw cudaError(thrown);
    }
  }

  /** Milliseconds from `earlier` to this event; both need `timing`. On the simulator they are of the CPU. */
  elapsedMs(earlier: CudaEvent): number {
    return guarded(() => this.#native.eventElapsed(earlier.handle, this.handle));
  }

  destroy(): void {
    givenBack(this);
    guarded(() => this.#native.eventDestroy(this.handle));
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}
