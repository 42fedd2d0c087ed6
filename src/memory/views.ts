/**
 * @file Typed views over one shared memory, addressed by byte pointers.
 *
 * `Views` is what plain TypeScript kernels read and write: the same pointers a WASM kernel gets, divided by the element
 * size. `view()` makes a checked typed array of one region.
 */
import { MonolithError } from '../base/errors.js';

export class Views {
  readonly buffer: SharedArrayBuffer;
  readonly u8: Uint8Array;
  readonly i32: Int32Array;
  readonly u32: Uint32Array;
  readonly f32: Float32Array;
  readonly f64: Float64Array;
  readonly i64: BigInt64Array;
  readonly u64: BigUint64Array;

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.u8 = new Uint8Array(buffer);
    this.i32 = new Int32Array(buffer);
    this.u32 = new Uint32Array(buffer);
    this.f32 = new Float32Array(buffer);
    this.f64 = new Float64Array(buffer);
    this.i64 = new BigInt64Array(buffer);
    this.u64 = new BigUint64Array(buffer);
  }
}

interface ViewConstructor<T> {
  new (buffer: SharedArrayBuffer, byteOffset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
}

/** A typed array of `count` elements at `offset`. Alignment and bounds are checked here, once. */
export function view<T>(
  kind: ViewConstructor<T>,
  buffer: SharedArrayBuffer,
  offset: number,
  count: number,
  name = 'view',
): T {
  const bytes = count * kind.BYTES_PER_ELEMENT;
  const fail = (reason: string) => new MonolithError('ML_BOUNDS', { name, offset, bytes, reason });
  if (!Number.isSafeInteger(offset) || offset < 0) throw fail('the offset is not a position in memory');
  if (!Number.isSafeInteger(count) || count < 0) throw fail('the count is not a whole number from 0');
  if (offset % kind.BYTES_PER_ELEMENT !== 0) throw fail(`the offset is not a multiple of ${kind.BYTES_PER_ELEMENT}`);
  if (offset + bytes > buffer.byteLength) throw fail(`the memory ends at ${buffer.byteLength}`);
  return new kind(buffer, offset, count);
}
