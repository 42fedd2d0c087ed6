// FarmHash Fingerprint64: what text ids are hashed with. Twin: src/data/farmhash.ts, which names the steps.
const K0: u64 = 0xc3a5c85c97cb3127;
const K1: u64 = 0xb492b66fbe98f273;
const K2: u64 = 0x9ae16a3b2f90404f;
const SEED: u64 = 81;

@inline
function shiftMix(value: u64): u64 {
  return value ^ (value >> 47);
}

@inline
function mix(u: u64, v: u64, multiplier: u64): u64 {
  const a = shiftMix((u ^ v) * multiplier);
  return shiftMix((v ^ a) * multiplier) * multiplier;
}

/** The fingerprint of `length` bytes. */
export function fingerprint64(at: usize, length: u32): u64 {
  if (length <= 16) return upTo16(at, length);
  if (length <= 32) return upTo32(at, length);
  return length <= 64 ? upTo64(at, length) : longer(at, length);
}

@inline
export function upTo16(at: usize, length: u32): u64 {
  const multiplier = K2 + 2 * <u64>length;
  const end = at + <usize>length;
  if (length >= 8) {
    const a = load<u64>(at) + K2;
    const b = load<u64>(end - 8);
    return mix(rotr<u64>(b, 37) * multiplier + a, (rotr<u64>(a, 25) + b) * multiplier, multiplier);
  }
  if (length >= 4) {
    return mix(<u64>length + (<u64>load<u32>(at) << 3), <u64>load<u32>(end - 4), multiplier);
  }
  if (length == 0) return K2;
  const y = <u64>load<u8>(at) + (<u64>load<u8>(at + <usize>(length >> 1)) << 8);
  const z = <u64>length + (<u64>load<u8>(end - 1) << 2);
  return shiftMix((y * K2) ^ (z * K0)) * K2;
}

function upTo32(at: usize, length: u32): u64 {
  const multiplier = K2 + 2 * <u64>length;
  const end = at + <usize>length;
  const a = load<u64>(at) * K1;
  const b = load<u64>(at + 8);
  const c = load<u64>(end - 8) * multiplier;
  const d = load<u64>(end - 16) * K2;
  return mix(rotr<u64>(a + b, 43) + rotr<u64>(c, 30) + d, a + rotr<u64>(b + K2, 18) + c, multiplier);
}

function upTo64(at: usize, length: u32): u64 {
  const multiplier = K2 + 2 * <u64>length;
  const end = at + <usize>length;
  const a = load<u64>(at) * K2;
  const b = load<u64>(at + 8);
  const c = load<u64>(end - 8) * multiplier;
  const d = load<u64>(end - 16) * K2;
  const y = rotr<u64>(a + b, 43) + rotr<u64>(c, 30) + d;
  const z = mix(y, a + rotr<u64>(b + K2, 18) + c, multiplier);
  const e = load<u64>(at + 16) * multiplier;
  const f = load<u64>(at + 24);
  const g = (y + load<u64>(end - 32)) * multiplier;
  const h = (z + load<u64>(end - 24)) * multiplier;
  return mix(rotr<u64>(e + f, 43) + rotr<u64>(g, 30) + h, e + rotr<u64>(f + a, 18) + g, multiplier);
}

function longer(at: usize, length: u32): u64 {
  const rest = (length - 1) & 63;
  const last = at + <usize>length - 64;
  const stop = at + <usize>(length - 1 - rest);
  let x = SEED * K2 + load<u64>(at);
  let y = SEED * K1 + 113;
  let z = shiftMix(y * K2 + 113) * K2;
  let v0: u64 = 0, v1: u64 = 0, w0: u64 = 0, w1: u64 = 0;
  let multiplier = K1;
  let ninefold: u64 = 1;
  for (let p = at; ; p += 64) {
    // The last block, which may overlap the one before, is mixed by another multiplier.
    const isLast = p == stop;
    if (isLast) {
      p = last;
      multiplier = K1 + ((z & 0xff) << 1);
      ninefold = 9;
      w0 += <u64>rest;
      v0 += w0;
      w0 += v0;
    }
    const next = rotr<u64>(x + y + v0 + load<u64>(p + 8), 37) * multiplier ^ (w1 * ninefold);
    y = rotr<u64>(y + v1 + load<u64>(p + 48), 42) * multiplier + v0 * ninefold + load<u64>(p + 40);
    const turned = rotr<u64>(z + w0, 33) * multiplier;
    let first = v1 * multiplier + load<u64>(p);
    let second = rotr<u64>(next + w0 + first + load<u64>(p + 24), 21);
    let sum = first + load<u64>(p + 8) + load<u64>(p + 16);
    v0 = sum + load<u64>(p + 24);
    v1 = second + rotr<u64>(sum, 44) + first;
    first = turned + w1 + load<u64>(p + 32);
    second = rotr<u64>(y + load<u64>(p + 16) + first + load<u64>(p + 56), 21);
    sum = first + load<u64>(p + 40) + load<u64>(p + 48);
    w0 = sum + load<u64>(p + 56);
    w1 = second + rotr<u64>(sum, 44) + first;
    x = turned;
    z = next;
    if (isLast) break;
  }
  const left = mix(v0, w0, multiplier) + shiftMix(y) * K0 + z;
  return mix(left, mix(v1, w1, multiplier) + x, multiplier);
}
