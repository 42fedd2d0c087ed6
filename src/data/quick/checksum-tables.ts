/** @file Tables by which kernels make CRC-32C of sixteen bytes at a time. */
import { CHECKSUM_WORDS } from '../../memory/decode-layout.js';

const POLYNOMIAL = 0x82f63b78;

/** Sixteen tables of 256 words: that of a byte, that of a byte with a zero byte behind it, and so on. */
export function checksumTables(): Uint32Array {
  const words = new Uint32Array(CHECKSUM_WORDS);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    words[byte] = crc;
  }
  for (let index = 256; index < CHECKSUM_WORDS; index++) {
    const before = words[index - 256]!;
    words[index] = words[before & 0xff]! ^ (before >>> 8);
  }
  return words;
}
