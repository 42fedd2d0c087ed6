/** @file The CUDA device of a pool thread: one stream that computes, one that copies, and the kernels of cuda/ptx. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ErrorCode, MonolithError, messageOf } from '../../../base/errors.js';
import type { Device, DeviceLaunch, DeviceMark, DeviceSpan, Queue } from './device.js';
import { DeviceBuffer } from './device-buffer.js';
import { type CudaDriver, versionText } from './driver.js';
import { BLOCK_THREADS, CUDA_KERNELS, type CudaKernel } from './launch-table.js';
import type { PreparedLaunch, PtxModule } from './ptx-module.js';
import { CudaEvent, type CudaStream } from './stream.js';

const PTX_DIR = new URL('../../../../../cuda/ptx/', import.meta.url);

export class CudaDevice implements Device {
  readonly addressBytes = 8;
  readonly driver: CudaDriver;
  readonly #streams: Readonly<Record<Queue, CudaStream>>;
  readonly #modules = new Map<string, PtxModule>();
  readonly #buffers = new Set<DeviceBuffer>();
  readonly #pinned: ArrayBuffer[] = [];
  readonly #events: CudaEvent[] = [];
  readonly #copied: CudaEvent;

  constructor(driver: CudaDriver) {
    this.driver = driver;
    this.#streams = { compute: driver.stream(), copy: driver.stream() };
    this.#copied = this.mark();
  }

  has(kernel: string): boolean {
    return CUDA_KERNELS.has(kernel);
  }

  alloc(bytes: number): DeviceSpan {
    const buffer = this.driver.alloc(bytes);
    this.#buffers.add(buffer);
    return buffer;
  }

  free(span: DeviceSpan): void {
    const buffer = bufferOf(span);
    this.#buffers.delete(buffer);
    buffer.free();
  }

  /** Pinned while the system has memory to pin; copies work from any other memory too, only slower. */
  allocPinned(bytes: number): Uint8Array {
    const size = Math.max(16, bytes);
    let buffer: ArrayBuffer;
    try {
      buffer = this.driver.allocPinned(size);
      this.#pinned.push(buffer);
    } catch (thrown) {
      if (!isMonolithError(thrown, 'ML_CUDA_MEMORY')) throw thrown;
      buffer = new ArrayBuffer(size);
    }
    return new Uint8Array(buffer, 0, bytes);
  }

  prepare(name: string, operands: readonly number[]): DeviceLaunch {
    const kernel = CUDA_KERNELS.get(name)!;
    const ptx = this.#module(kernel.module).kernel(name);
    const { multiprocessors } = this.driver.device;
    const grid = kernel.grid(operands, multiprocessors);
    const prepared = ptx.prepare({ grid, block: BLOCK_THREADS }, operands);
    return new CudaLaunch(kernel, prepared, [...operands], multiprocessors, this.#streams.compute);
  }

  #module(name: string): PtxModule {
    let module = this.#modules.get(name);
    if (module === undefined) {
      module = this.#load(name);
      this.#modules.set(name, module);
    }
    return module;
  }

  #load(name: string): PtxModule {
    try {
      return this.driver.loadModule(name, readPtx(name));
    } catch (thrown) {
      if (!isMonolithError(thrown, 'ML_CUDA_PTX')) throw thrown;
      const version = versionText(this.driver.version);
      const reason = `${thrown.fields.reason} (module ${name} of the package, CUDA ${version})`;
      const hint = `${thrown.hint}; the kernels are made for CUDA 11.0 and later, and --backend wasm does without them`;
      throw new MonolithError('ML_CUDA_PTX', { ...thrown.fields, reason }, { hint, cause: thrown });
    }
  }

  upload(to: DeviceSpan, from: Uint8Array): void {
    this.#streams.copy.upload(bufferOf(to), from);
  }

  download(to: Uint8Array, from: DeviceSpan): void {
    this.#streams.copy.download(to, bufferOf(from));
  }

  fill(to: DeviceSpan, byte: number): void {
    this.#streams.compute.fill(bufferOf(to), byte);
  }

  copy(to: DeviceSpan, from: DeviceSpan, bytes: number): void {
    this.#streams.compute.copy(bufferOf(to), 0, bufferOf(from), 0, bytes);
  }

  // The copies below are in the compute queue and not in the default stream, for which the queues do not wait, nor it
  // for them: an update that is under way would otherwise be mixed with what is copied, and a launch could be before
  // it.
  uploadNow(to: DeviceSpan, from: Uint8Array, offset = 0): void {
    const { compute } = this.#afterCopies();
    compute.upload(bufferOf(to), from, offset);
    compute.synchronize();
  }

  downloadNow(to: Uint8Array, from: DeviceSpan): void {
    const { compute } = this.#afterCopies();
    compute.download(to, bufferOf(from));
    compute.synchronize();
  }

  /** The queues, when what is put on the compute queue comes after all that the copy queue has now. */
  #afterCopies(): Readonly<Record<Queue, CudaStream>> {
    this.#streams.copy.record(this.#copied);
    this.#streams.compute.wait(this.#copied);
    return this.#streams;
  }

  mark({ timed = false } = {}): CudaEvent {
    const event = this.driver.event({ timing: timed });
    this.#events.push(event);
    return event;
  }

  elapsedMs(from: DeviceMark, to: DeviceMark): number {
    return eventOf(to).elapsedMs(eventOf(from));
  }

  record(queue: Queue, mark: DeviceMark): void {
    this.#streams[queue].record(eventOf(mark));
  }

  wait(queue: Queue, mark: DeviceMark): void {
    this.#streams[queue].wait(eventOf(mark));
  }

  close(): void {
    // After a fault the driver frees nothing more: then the first call throws, and the process gives it all back.
    this.driver.synchronize();
    for (const stream of Object.values(this.#streams)) stream.destroy();
    for (const event of this.#events) event.destroy();
    for (const buffer of this.#buffers) buffer.free();
    for (const buffer of this.#pinned) this.driver.freePinned(buffer);
    for (const module of this.#modules.values()) module.unload();
  }
}

/** A launch whose grid follows its operands. */
class CudaLaunch implements DeviceLaunch {
  readonly #kernel: CudaKernel;
  readonly #prepared: PreparedLaunch;
  readonly #operands: number[];
  readonly #multiprocessors: number;
  readonly #stream: CudaStream;
  #changed = false;

  constructor(
    kernel: CudaKernel,
    prepared: PreparedLaunch,
    operands: number[],
    multiprocessors: number,
    stream: CudaStream,
  ) {
    this.#kernel = kernel;
    this.#prepared = prepared;
    this.#operands = operands;
    this.#multiprocessors = multiprocessors;
    this.#stream = stream;
  }

  set(index: number, value: number): void {
    if (this.#operands[index] === value) return;
    this.#operands[index] = value;
    this.#prepared.set(index, value);
    this.#changed ||= this.#kernel.operands[index] === 'u';
  }

  start(): void {
    if (this.#changed) {
      this.#prepared.setGrid(this.#kernel.grid(this.#operands, this.#multiprocessors));
      this.#changed = false;
    }
    this.#prepared.launch(this.#stream);
  }
}

function isMonolithError(thrown: unknown, code: ErrorCode): thrown is MonolithError {
  return thrown instanceof MonolithError && thrown.code === code;
}

function readPtx(name: string): string {
  const file = fileURLToPath(new URL(`${name}.ptx`, PTX_DIR));
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new MonolithError(
      'ML_CUDA_ADDON',
      { reason: `${file}: ${messageOf(cause)}` },
      { hint: 'the kernels are part of the package: install it again', cause },
    );
  }
}

function bufferOf(span: DeviceSpan): DeviceBuffer {
  if (!(span instanceof DeviceBuffer)) throw new Error('memory of another device');
  return span;
}

function eventOf(mark: DeviceMark): CudaEvent {
  if (!(mark instanceof CudaEvent)) throw new Error('a mark of another device');
  return mark;
}
