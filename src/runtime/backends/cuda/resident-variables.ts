/**
 * @file Variables of a session whose newest values may be on the device only: what the main thread does about them.
 *
 * The thread that runs steps keeps the records; memory/placement-layout.ts draws them. Nothing is copied unless a
 * variable is asked for and the device has changed it.
 */
import type { Arena } from '../../../memory/arena.js';
import { ON_HOST, RESIDENT, RESIDENT_WORDS } from '../../../memory/placement-layout.js';
import type { Views } from '../../../memory/views.js';
import type { VariableHomes } from '../backend.js';
import type { CudaDriver } from './driver.js';

export class ResidentVariables implements VariableHomes {
  readonly address: number;
  readonly count: number;
  readonly #views: Views;
  readonly #driver: CudaDriver;
  readonly #words = new Map<number, number>();

  constructor(views: Views, arena: Arena, driver: CudaDriver, addresses: readonly number[]) {
    this.#views = views;
    this.#driver = driver;
    this.count = addresses.length;
    this.address = arena.alloc(addresses.length * RESIDENT_WORDS * 4, 'residents');
    addresses.forEach((address, index) => {
      const word = this.address / 4 + index * RESIDENT_WORDS;
      views.u32[word + RESIDENT.address] = address;
      views.u32[word + RESIDENT.validity] = ON_HOST;
      this.#words.set(address, word);
    });
  }

  /** Brings the values of a variable to the host when the device has newer ones; no step may run meanwhile. */
  async bringHome(address: number, values: Float32Array | BigInt64Array): Promise<void> {
    const word = this.#newerOnDevice(address);
    if (word === 0) return;
    await this.#driver.downloadLater(values, this.#place(word));
    this.#views.u32[word + RESIDENT.validity]! |= ON_HOST;
  }

  /** The same at once, which blocks the thread until the device is through and the copy is made. */
  bringHomeNow(address: number, values: Float32Array | BigInt64Array): void {
    const word = this.#newerOnDevice(address);
    if (word === 0) return;
    this.#driver.synchronize();
    this.#driver.download(values, this.#place(word));
    this.#views.u32[word + RESIDENT.validity]! |= ON_HOST;
  }

  /** Whether the host's values of a variable are old. */
  isAway(address: number): boolean {
    return this.#newerOnDevice(address) !== 0;
  }

  /** Word of the record of a variable whose newest values the host has not; else 0. */
  #newerOnDevice(address: number): number {
    const word = this.#words.get(address);
    return word === undefined || this.#views.u32[word + RESIDENT.validity]! & ON_HOST ? 0 : word;
  }

  #place(word: number): { at(): number } {
    const { u32 } = this.#views;
    const address = u32[word + RESIDENT.deviceHigh]! * 2 ** 32 + u32[word + RESIDENT.deviceLow]!;
    return { at: () => address };
  }

  /** The host has written a variable: what the device has of it is old. */
  changed(address: number): void {
    const word = this.#words.get(address);
    if (word !== undefined) this.#views.u32[word + RESIDENT.validity] = ON_HOST;
  }
}
