/**
 * @file Feature ids: 64 bits that hold a slot (which feature) and a signature (which value of it).
 *
 * | version | 63 | 62..54 | 53..48 | 47..0 |
 * |---|---|---|---|---|
 * | v1 | slot, 10 bits || signature, 54 bits ||
 * | v2 | 0 | slot, 15 bits || signature, 48 bits |
 *
 * Mirrors data/training_instance/cc/fid. A fid is the bit pattern: functions take it signed or unsigned and answer
 * unsigned, arrays carry it as int64. Tables and filters read the slot as v2 whatever made the id.
 */
import { MonolithError } from '../../base/errors.js';
import { idOf, type Refuse } from '../../memory/given-arrays.js';

export const FID_V1_SLOT_LIMIT = 1024;
export const FID_V2_SLOT_LIMIT = 32768;
const V1_SHIFT = 54n;
const V2_SHIFT = 48n;
const V1_SIGNATURE = (1n << V1_SHIFT) - 1n;
const V2_SIGNATURE = (1n << V2_SHIFT) - 1n;
const V2_SLOT = 0x7fffn;

export type FidVersion = 1 | 2;

const bits = (fid: bigint): bigint => BigInt.asUintN(64, fid);

/** Slot of a v1 fid. */
export function slotOfFidV1(fid: bigint): number {
  return Number(bits(fid) >> V1_SHIFT);
}

/** Slot of a v2 fid; bit 63 is not part of it. */
export function slotOfFidV2(fid: bigint): number {
  return Number((bits(fid) >> V2_SHIFT) & V2_SLOT);
}

export function signatureOfFidV1(fid: bigint): bigint {
  return fid & V1_SIGNATURE;
}

export function signatureOfFidV2(fid: bigint): bigint {
  return fid & V2_SIGNATURE;
}

/**
 * A v1 fid; bits of the signature above its width are dropped.
 *
 * ```ts
 * fidV1(1, 100n); // 18014398509482084n
 * ```
 */
export function fidV1(slot: number, signature: bigint | number): bigint {
  checkSlot(slot, FID_V1_SLOT_LIMIT);
  return (BigInt(slot) << V1_SHIFT) | (idOf(signature, refusal('fidV1')) & V1_SIGNATURE);
}

/** A v2 fid; bits of the signature above its width are dropped. */
export function fidV2(slot: number, signature: bigint | number): bigint {
  checkSlot(slot, FID_V2_SLOT_LIMIT);
  return (BigInt(slot) << V2_SHIFT) | (idOf(signature, refusal('fidV2')) & V2_SIGNATURE);
}

/** The unsigned form of a fid that must be a valid v2 id: bit 63 is clear. Every 64-bit value is a valid v1 id. */
export function checkedFidV2(fid: bigint): bigint {
  const whole = bits(fid);
  checkSlot(Number(whole >> V2_SHIFT), FID_V2_SLOT_LIMIT);
  return whole;
}

/** The v2 id of a v1 id. The six signature bits above 47 are lost. */
export function fidV1ToV2(fid: bigint): bigint {
  const whole = bits(fid);
  return (whole & V2_SIGNATURE) | ((whole >> V1_SHIFT) << V2_SHIFT);
}

/** The id with another slot and the same signature. */
export function switchSlot(fid: bigint, slot: number, version: FidVersion): bigint {
  return version === 1 ? fidV1(slot, signatureOfFidV1(fid)) : fidV2(slot, signatureOfFidV2(fid));
}

/**
 * `<fid>(v1|slot=<slot>|sig=<signature>)`, likewise v2.
 *
 * ```ts
 * fidDebugString(fidV2(3, 7n), 2); // '844424930131975(v2|slot=3|sig=7)'
 * ```
 */
export function fidDebugString(fid: bigint, version: FidVersion): string {
  const slot = version === 1 ? slotOfFidV1(fid) : slotOfFidV2(fid);
  const signature = version === 1 ? signatureOfFidV1(fid) : signatureOfFidV2(fid);
  return `${bits(fid)}(v${version}|slot=${slot}|sig=${signature})`;
}

/** Slots of many ids. Two u32 lanes per id: no bigint is made. */
export function slotsOfFids(fids: BigInt64Array | BigUint64Array, version: FidVersion): Int32Array {
  const words = wordsOf(fids);
  const shift = version === 1 ? 22 : 16;
  const mask = version === 1 ? 0x3ff : 0x7fff;
  return Int32Array.from({ length: fids.length }, (_, i) => (words[2 * i + 1]! >>> shift) & mask);
}

/** v1 ids as v2 ids, into `out` (which may be `fids` itself). */
export function convertFidsV1ToV2(fids: BigInt64Array, out = new BigInt64Array(fids.length)): BigInt64Array {
  const from = wordsOf(fids);
  const to = wordsOf(out);
  for (let i = 0; i < from.length; i += 2) {
    const high = from[i + 1]!;
    to[i] = from[i]!;
    to[i + 1] = (high & 0xffff) | ((high >>> 22) << 16);
  }
  return out;
}

/** Low and high words of each id (little-endian machines only, as WASM memories are). */
function wordsOf(fids: BigInt64Array | BigUint64Array): Uint32Array {
  return new Uint32Array(fids.buffer, fids.byteOffset, fids.length * 2);
}

const refusal =
  (what: string): Refuse =>
  (found, hint) =>
    new MonolithError('ML_ID_TYPE', { what, reason: `the signature is ${found}` }, hint === undefined ? {} : { hint });

function checkSlot(slot: number, limit: number): void {
  if (!Number.isInteger(slot) || slot < 0 || slot >= limit) throw new MonolithError('ML_FID_SLOT', { limit, slot });
}
