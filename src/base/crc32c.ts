/**
 * @file CRC-32C and the mask every stored checksum carries in record files, tables and tensor bundles.
 *
 * The mask exists because a CRC over bytes that contain their own CRC degenerates; the addition breaks that.
 */
import { lazyModule } from './lazy-module.js';

const native = lazyModule<typeof import('@node-rs/crc32')>('@node-rs/crc32');
const MASK_DELTA = 0xa282ead8;

/** Checksum of `bytes`; `previous` continues a finished checksum, as if both inputs were one. */
export function crc32c(bytes: Uint8Array, previous = 0): number {
  return native().crc32c(bytes, previous);
}

export function maskCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}

export function unmaskCrc(masked: number): number {
  const rotated = (masked - MASK_DELTA) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}

export function maskedCrc32c(bytes: Uint8Array): number {
  return maskCrc(crc32c(bytes));
}

/** Eight lower-case hex digits. */
export function crcHex(crc: number): string {
  return (crc >>> 0).toString(16).padStart(8, '0');
}
