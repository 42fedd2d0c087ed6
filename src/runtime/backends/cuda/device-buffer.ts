/** @file A piece of device memory. */
import { MonolithError } from '../../../base/errors.js';
import { guarded } from './cuda-errors.js';
import { giveBackWhenForgotten, givenBack } from './forgotten.js';
import type { Handle, NativeCuda } from './native.js';

/**
 * Device memory of a fixed size. Freed by `free`, at the end of a `using` block, or some time after nobody holds it any
 * more: whoever uses its address keeps the buffer. A prepared launch does.
 */
export class DeviceBuffer {
  readonly size: number;
  readonly #native: NativeCuda;
  #address: Handle;

  constructor(native: NativeCuda, size: number) {
    this.#native = native;
    this.size = size;
    const address = guarded(() => native.alloc(size));
    this.#address = address;
    giveBackWhenForgotten(this, () => native.free(address));
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
    if (address === 0) return;
    givenBack(this);
    guarded(() => this.#native.free(address));
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
