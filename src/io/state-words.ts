/** @file Integers among the floats of optimizer state: 64 bits in the words of two. */

/** The words as they are: as floats they could be NaN, and a NaN may lose bits on its way through a number. */
function wordsOf(state: Float32Array): Uint32Array {
  return new Uint32Array(state.buffer, state.byteOffset, state.length);
}

export function putWords(state: Float32Array, at: number, value: bigint): void {
  const words = wordsOf(state);
  words[at] = Number(BigInt.asUintN(32, value));
  words[at + 1] = Number(BigInt.asUintN(32, value >> 32n));
}

export function takeWords(state: Float32Array, at: number): bigint {
  const words = wordsOf(state);
  return BigInt.asIntN(64, (BigInt(words[at + 1]!) << 32n) | BigInt(words[at]!));
}
