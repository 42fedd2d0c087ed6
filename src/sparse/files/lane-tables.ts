/**
 * @file Tables by which the encoder sums 16 rows at a time (assembly/dump/lane-crc.ts).
 *
 * A set has 16 bytes for each byte of a word, nibble of that byte and byte of the result: what the nibble makes of that
 * byte of a checksum, once the rest of the word and some constant bytes have passed.
 */
import { LANE_SET_BYTES } from '../../memory/dump-layout.js';

const POLYNOMIAL = 0x82f63b78;

/** The set for words with `gap` constant bytes behind them. */
export function laneSet(gap: number): Uint8Array {
  const set = new Uint8Array(LANE_SET_BYTES);
  for (let byte = 0; byte < 4; byte++) {
    for (let half = 0; half < 2; half++) {
      for (let nibble = 0; nibble < 16; nibble++) {
        const state = moved(nibble << (4 * half), 4 - byte + gap);
        for (let out = 0; out < 4; out++) set[((byte * 2 + half) * 4 + out) * 16 + nibble] = state >>> (8 * out);
      }
    }
  }
  return set;
}

/** The state that `bytes` bytes of zero make of `state`. */
function moved(state: number, bytes: number): number {
  let crc = state;
  for (let bit = 0; bit < 8 * bytes; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  return crc >>> 0;
}
