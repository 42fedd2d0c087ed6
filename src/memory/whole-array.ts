/**
 * @file Arrays of callers that may change under the reader: their memory moved away to another thread, or shared and
 * growing.
 */

/** Whether the memory of `array` was transferred away. Buffers of Node 20 do not say so themselves. */
export function isDetached(array: ArrayBufferView): boolean {
  if (array.byteLength > 0) return false;
  try {
    new Uint8Array(array.buffer);
    return false;
  } catch {
    return true;
  }
}

type Growing = { readonly growable?: boolean; readonly resizable?: boolean };

/** `array` with the length it has now, for good: one over a buffer that grows would have another at each look. */
export function withFixedLength<T extends Float32Array | BigInt64Array | Int32Array>(array: T): T {
  const { growable, resizable } = array.buffer as Growing;
  return growable || resizable ? (array.subarray(0, array.length) as T) : array;
}
