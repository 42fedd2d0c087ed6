/**
 * @file Slots of a queue in device memory: where the tensors of an element wait for the one that takes them.
 *
 * A slot keeps its memory and grows to the largest element it has seen, so that a queue allocates nothing once sizes
 * are known. Copies run on a stream of the queue; two events order them with whoever computes: `written` after a slot
 * was filled, `read` after the work that uses it, which the next filling waits for on the device.
 */
import type { DeviceBuffer } from '../runtime/backends/cuda/device-buffer.js';
import { DeviceTensor } from '../runtime/backends/cuda/device-tensor.js';
import type { CudaDriver } from '../runtime/backends/cuda/driver.js';
import type { CudaEvent, CudaStream } from '../runtime/backends/cuda/stream.js';
import { allocateData, sizeOfShape, Tensor } from '../tensor/tensor.js';

/** Tensors of a slot begin at multiples of this, as allocations of the driver do. */
const ALIGN_BYTES = 256;

const alignUp = (bytes: number) => Math.ceil(bytes / ALIGN_BYTES) * ALIGN_BYTES;

export class DeviceSlot {
  readonly #driver: CudaDriver;
  readonly #copies: CudaStream;
  readonly #written: CudaEvent;
  readonly #read: CudaEvent;
  readonly #made: CudaEvent;
  #device: DeviceBuffer | undefined;
  /** Pinned memory of the same size. */
  #pinned: ArrayBuffer | undefined;
  #isRead = false;
  #usedBytes = 0;

  constructor(driver: CudaDriver, copies: CudaStream) {
    this.#driver = driver;
    this.#copies = copies;
    this.#written = driver.event();
    this.#read = driver.event();
    this.#made = driver.event();
  }

  /**
   * Copies tensors of either memory into the slot. What makes the device tensors is on `source`, or done; what is put
   * there afterwards may change them.
   */
  async fill(tensors: readonly (Tensor | DeviceTensor)[], source?: CudaStream): Promise<DeviceTensor[]> {
    const sizes = tensors.map((tensor) => (tensor instanceof Tensor ? tensor.data.byteLength : tensor.byteLength));
    const offsets: number[] = [];
    let end = 0;
    for (const size of sizes) {
      offsets.push(end);
      end = alignUp(end + size);
    }
    // The pinned memory may still be on its way from the last time.
    if (!this.#written.isDone()) await this.#written.finished();
    const device = this.#reserve(Math.max(end, ALIGN_BYTES));
    if (this.#isRead) this.#copies.wait(this.#read);
    this.#isRead = false;
    if (source !== undefined) {
      source.record(this.#made);
      this.#copies.wait(this.#made);
    }
    tensors.forEach((tensor, index) => {
      const [offset, bytes] = [offsets[index]!, sizes[index]!];
      if (bytes === 0) return;
      if (tensor instanceof DeviceTensor) this.#copies.copy(device, offset, tensor.buffer, tensor.offset, bytes);
      else {
        const { data } = tensor;
        const pinned = new Uint8Array(this.#pinned!, offset, bytes);
        pinned.set(new Uint8Array(data.buffer, data.byteOffset, bytes));
        this.#copies.upload(device, pinned, offset);
      }
    });
    this.#copies.record(this.#written);
    source?.wait(this.#written);
    this.#usedBytes = end;
    return tensors.map(({ dtype, shape }, index) => new DeviceTensor(dtype, shape, device, offsets[index]!));
  }

  /** Makes work that is put on `stream` from now on find the tensors; without one, waits until anybody would. */
  async ready(stream: CudaStream | undefined): Promise<void> {
    if (stream !== undefined) stream.wait(this.#written);
    else if (!this.#written.isDone()) await this.#written.finished();
  }

  /** Copies of the tensors on the host, all by one copy of the slot. */
  async toHost(tensors: readonly DeviceTensor[]): Promise<Tensor[]> {
    if (this.#usedBytes > 0) {
      this.#copies.download(new Uint8Array(this.#pinned!, 0, this.#usedBytes), this.#device!);
      this.#copies.record(this.#written);
      await this.#written.finished();
    }
    return tensors.map(({ dtype, shape, offset, byteLength }) => {
      const data = allocateData(dtype, sizeOfShape(shape));
      new Uint8Array(data.buffer).set(new Uint8Array(this.#pinned!, offset, byteLength));
      return new Tensor(dtype, shape, data);
    });
  }

  /** What uses the tensors is on `stream`, or done: the slot can be filled again behind it. */
  release(stream: CudaStream | undefined): void {
    if (stream === undefined) return;
    stream.record(this.#read);
    this.#isRead = true;
  }

  #reserve(bytes: number): DeviceBuffer {
    if (this.#device !== undefined && this.#device.size >= bytes) return this.#device;
    this.free();
    const size = 2 ** Math.ceil(Math.log2(bytes));
    this.#device = this.#driver.alloc(size);
    this.#pinned = this.#driver.allocPinned(size);
    return this.#device;
  }

  /** Gives the memory back; the driver waits for work that may use it. */
  free(): void {
    this.#device?.free();
    this.#device = undefined;
    if (this.#pinned !== undefined) this.#driver.freePinned(this.#pinned);
    this.#pinned = undefined;
  }

  destroy(): void {
    this.free();
    for (const event of [this.#written, this.#read, this.#made]) event.destroy();
  }
}

export class DeviceSlots {
  readonly #copies: CudaStream;
  readonly #all: readonly DeviceSlot[];
  readonly #free: DeviceSlot[];

  constructor(driver: CudaDriver, count: number) {
    this.#copies = driver.stream();
    this.#all = Array.from({ length: count }, () => new DeviceSlot(driver, this.#copies));
    this.#free = [...this.#all];
  }

  take(): DeviceSlot {
    const slot = this.#free.shift();
    // As many as can wait, one that is being used and one that is being filled: there is always one.
    if (slot === undefined) throw new Error('no slot of the queue is free');
    return slot;
  }

  give(slot: DeviceSlot): void {
    this.#free.push(slot);
  }

  destroy(): void {
    for (const slot of this.#all) slot.destroy();
    this.#copies.destroy();
  }
}
