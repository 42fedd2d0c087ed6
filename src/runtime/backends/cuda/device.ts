/**
 * @file What a step needs of a device with a memory of its own: memory, two queues of work, marks in them, kernels by
 * name.
 *
 * Works of a queue run in order; the queues run side by side and wait for each other by marks. `CudaDevice` is the one
 * in use; tests have one that runs the reference kernels over another memory.
 */

export type Queue = 'compute' | 'copy';

/** A piece of device memory. */
export interface DeviceSpan {
  readonly address: number;
  readonly size: number;
}

/** A point in a queue. */
export interface DeviceMark {
  isDone(): boolean;
}

/** A kernel with its operands, to be repeated. */
export interface DeviceLaunch {
  /** Changes an operand that is no address. */
  set(index: number, value: number): void;
  /** Puts it on the compute queue. */
  start(): void;
}

export interface Device {
  /** Bytes of an address in a list of addresses. */
  readonly addressBytes: 4 | 8;
  has(kernel: string): boolean;
  alloc(bytes: number): DeviceSpan;
  free(span: DeviceSpan): void;
  /** Host memory that copies are quick from and to. */
  allocPinned(bytes: number): Uint8Array;
  /** Addresses are given as numbers. */
  prepare(kernel: string, operands: readonly number[]): DeviceLaunch;
  /** Puts a copy on the copy queue. The host memory is left alone until a mark after it is done. */
  upload(to: DeviceSpan, from: Uint8Array): void;
  download(to: Uint8Array, from: DeviceSpan): void;
  /** Puts on the compute queue: `byte` in every place, and a copy inside the device. */
  fill(to: DeviceSpan, byte: number): void;
  copy(to: DeviceSpan, from: DeviceSpan, bytes: number): void;
  /** Copies once all that was put on the queues is done, and returns when the copy is made. */
  uploadNow(to: DeviceSpan, from: Uint8Array, offset?: number): void;
  downloadNow(to: Uint8Array, from: DeviceSpan): void;
  /** `timed` marks can be asked for times, at some cost. */
  mark(options?: { readonly timed?: boolean }): DeviceMark;
  /** Milliseconds between two timed marks that are done. */
  elapsedMs(from: DeviceMark, to: DeviceMark): number;
  record(queue: Queue, mark: DeviceMark): void;
  /** What is put on the queue later waits for the mark. */
  wait(queue: Queue, mark: DeviceMark): void;
  /** Gives all memory back. */
  close(): void;
}
