/** @file A piece of device memory. */
import { MonolithError } from '../../base/errors.js';
import { guarded } from './cuda-errors.js';
import type { Handle, NativeCuda } from './native.js';

/** Device memory of a fixed size. Freed by `free`, or at the end of a `using` block. */
export class DeviceBuffer {
  readonly size: number;
  readonly #native: NativeCuda;
  #address: Handle;

  constructor(native: NativeCuda, size: number) {
    this.#native = native;
    this.size = size;
    this.#address = guarded(() => native.alloc(size));
  }

  /** The device address. Throws when the buffer was freed. */
  get address(): Handle {
    if (this.#address === 0) throw new MonolithError('ML_CLOSED', { what: 'a device buffer' });
    return this.#address;
  }

  /** Frees the memory. The driver waits for work that may use it. A second call does nothing. */
  free(): void {
    const address = this.#address;
    this.#address = 0;
    if (address !== 0) guarded(() => this.#native.free(address));
  }

  [Symbol.dispose](): void {
    this.free();
  }

  /** The address of byte `offset`, of which `bytes` follow inside the buffer. */
  at(offset: number, bytes: number): Handle {
    if (offset < 0 || bytes < 0 || offset + bytes > this.size) {
      const reason = `the buffer has ${this.size} bytes`;
      throw new MonolithError('ML_BOUNDS', { name: 'of a device buffer', bytes, offset, reason });
    }
    return this.address + offset;
  }
}
