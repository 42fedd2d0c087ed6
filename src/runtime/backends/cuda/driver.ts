/**
 * @file The CUDA driver, opened at run time: a GPU's or the simulated one. Both are driven by the same calls.
 *
 * One driver per process. Every thread opens it for itself, which makes the context current on that thread; buffers,
 * streams and modules belong to the process, but the objects here to the thread that made them.
 */
import { checkOptions } from '../../../base/check-options.js';
import { MonolithError } from '../../../base/errors.js';
import { cudaError, driverError, guarded } from './cuda-errors.js';
import { DeviceBuffer } from './device-buffer.js';
import { DRIVER_VARIABLE } from './driver-variable.js';
import { BUILD_HINT, type CudaDevice, loadNative, type NativeCuda, simulatorPath, type View } from './native.js';
import { PtxModule } from './ptx-module.js';
import { Simulator } from './simulator.js';
import { CudaEvent, CudaStream } from './stream.js';

/** The name that stands for the simulated driver of this package. */
export const SIMULATED = 'sim';

export interface CudaDriverOptions {
  /** Path of the driver, or `sim`. Without it MONOLITH_CUDA_DRIVER counts, then libcuda.so.1 and libcuda.so. */
  readonly driver?: string;
  /** Index of the device. */
  readonly device?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The CUDA driver of this machine, or the simulated one. */
export class CudaDriver {
  readonly path: string;
  /** As the driver says it: 13000 is CUDA 13.0. */
  readonly version: number;
  readonly device: CudaDevice;
  /** The controls of the simulated driver; null on a real one. */
  readonly simulator: Simulator | null;
  readonly #native: NativeCuda;

  /**
   * Opens the driver for the calling thread.
   *
   * ```ts
   * const driver = CudaDriver.open({ driver: 'sim' });
   * ```
   */
  static open(options: CudaDriverOptions = {}): CudaDriver {
    checkOptions('CudaDriver.open', options, ['driver', 'device', 'env']);
    const native = loadNative();
    const path = driverPath(options.driver ?? (options.env ?? process.env)[DRIVER_VARIABLE] ?? '');
    let opened: ReturnType<NativeCuda['open']>;
    try {
      opened = native.open(path);
    } catch (thrown) {
      throw driverError(thrown);
    }
    return new CudaDriver(native, opened, options.device ?? 0);
  }

  private constructor(native: NativeCuda, opened: ReturnType<NativeCuda['open']>, device: number) {
    this.#native = native;
    this.path = opened.path;
    this.version = opened.version;
    this.simulator = opened.simulated ? new Simulator(native) : null;
    const count = guarded(() => native.deviceCount());
    if (!Number.isInteger(device) || device < 0 || device >= count) {
      const reason = `there is no device ${device}, ${this.path} has ${count} devices`;
      throw new MonolithError('ML_CUDA_DEVICE', { reason }, { hint: 'devices are numbered from 0' });
    }
    this.device = guarded(() => {
      native.use(device);
      return native.device(device);
    });
  }

  /** Loads PTX text. `name` is for messages. */
  loadModule(name: string, ptx: string): PtxModule {
    return new PtxModule(this.#native, name, ptx);
  }

  alloc(bytes: number): DeviceBuffer {
    return new DeviceBuffer(this.#native, bytes);
  }

  stream(): CudaStream {
    return new CudaStream(this.#native);
  }

  event(options: { readonly timing?: boolean } = {}): CudaEvent {
    return new CudaEvent(this.#native, options);
  }

  /** Free and all bytes of device memory. */
  memory(): { readonly freeBytes: number; readonly totalBytes: number } {
    const [freeBytes, totalBytes] = guarded(() => this.#native.memoryInfo());
    return { freeBytes, totalBytes };
  }

  /**
   * Pinned host memory, for copies that run beside the CPU. It lives until `freePinned`, or until the buffer is
   * collected: a stream holds the buffers of its copies.
   */
  allocPinned(bytes: number): ArrayBuffer {
    return guarded(() => this.#native.hostAlloc(bytes));
  }

  /** Frees pinned memory; the buffer is detached, so a view of it is empty afterwards. */
  freePinned(buffer: ArrayBuffer): void {
    guarded(() => this.#native.hostFree(buffer));
  }

  /** Pins memory that exists already, such as a part of a SharedArrayBuffer, until `unregister` with the same view. */
  register(view: View): void {
    guarded(() => this.#native.hostRegister(view));
  }

  unregister(view: View): void {
    guarded(() => this.#native.hostUnregister(view));
  }

  /**
   * Copies and returns when the bytes are there; for set-up, not for steps. Waits for no stream: synchronise the one
   * that uses `to` before.
   */
  upload(to: DeviceBuffer, from: View, offset = 0): void {
    const address = to.at(offset, from.byteLength);
    guarded(() => this.#native.copyToDevice(address, from));
  }

  /** Copies at once. Waits for no stream: synchronise the one that writes `from` before. */
  download(to: View, from: Pick<DeviceBuffer, 'at'>, offset = 0): void {
    const address = from.at(offset, to.byteLength);
    guarded(() => this.#native.copyToHost(to, address));
  }

  /** Copies when all streams are done; the calling thread stays free. `to` is not to be touched meanwhile. */
  async downloadLater(to: View, from: Pick<DeviceBuffer, 'at'>, offset = 0): Promise<void> {
    const address = from.at(offset, to.byteLength);
    try {
      await this.#native.copyToHostLater(to, address);
    } catch (thrown) {
      throw cudaError(thrown);
    }
  }

  /** Blocks until all streams are done. */
  synchronize(): void {
    guarded(() => this.#native.contextSynchronize());
  }
}

/** A version as people write it: 11.0 for 11000. */
export function versionText(version: number): string {
  return `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;
}

/** What to open for a choice of driver. */
export function driverPath(choice: string): string {
  if (choice !== SIMULATED) return choice;
  const path = simulatorPath();
  if (path !== null) return path;
  throw new MonolithError('ML_CUDA_ADDON', { reason: 'the simulated driver is not there' }, { hint: BUILD_HINT });
}
