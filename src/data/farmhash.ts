/**
 * @file FarmHash Fingerprint64 of bytes: what text ids are hashed with. It never changes, so that ids of years ago are
 * found again, here and by every other program that has the function.
 */

const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;
const SEED = 81n;

const wrap = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotate = (value: bigint, by: bigint): bigint => wrap((value >> by) | (value << (64n - by)));
const shiftMix = (value: bigint): bigint => value ^ (value >> 47n);

function mix(u: bigint, v: bigint, multiplier: bigint): bigint {
  const a = shiftMix(wrap((wrap(u) ^ wrap(v)) * multiplier));
  const b = shiftMix(wrap((wrap(v) ^ a) * multiplier));
  return wrap(b * multiplier);
}

/** Bytes that are read as little-endian words. */
class Words {
  readonly length: number;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.length = bytes.length;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  byte(at: number): bigint {
    return BigInt(this.#view.getUint8(at));
  }

  word32(at: number): bigint {
    return BigInt(this.#view.getUint32(at, true));
  }

  /** Eight bytes; from the end where `at` is negative. */
  word(at: number): bigint {
    return this.#view.getBigUint64(at < 0 ? this.length + at : at, true);
  }
}

/**
 * The 64-bit fingerprint of bytes, from 0 up to 2^64.
 *
 * ```ts
 * fingerprint64(new TextEncoder().encode('138')); // its low 63 bits name user 138 in the demo of MovieLens
 * ```
 */
export function fingerprint64(bytes: Uint8Array): bigint {
  const words = new Words(bytes);
  if (words.length <= 16) return upTo16(words);
  if (words.length <= 32) return upTo32(words);
  return words.length <= 64 ? upTo64(words) : longer(words);
}

const encoder = new TextEncoder();
/** The id of a text: the fingerprint of its UTF-8, signed, of 64 bits. */
export function textId(text: string): bigint {
  return BigInt.asIntN(64, fingerprint64(encoder.encode(text)));
}

const multiplierOf = ({ length }: Words): bigint => wrap(K2 + 2n * BigInt(length));

function upTo16(words: Words): bigint {
  const { length } = words;
  const multiplier = multiplierOf(words);
  if (length >= 8) {
    const [a, b] = [wrap(words.word(0) + K2), words.word(-8)];
    const [c, d] = [rotate(b, 37n) * multiplier + a, (rotate(a, 25n) + b) * multiplier];
    return mix(c, d, multiplier);
  }
  if (length >= 4) {
    const first = words.word32(0);
    return mix(BigInt(length) + (first << 3n), words.word32(length - 4), multiplier);
  }
  if (length === 0) return K2;
  const y = words.byte(0) + (words.byte(length >> 1) << 8n);
  const z = BigInt(length) + (words.byte(length - 1) << 2n);
  return wrap(shiftMix(wrap(y * K2) ^ wrap(z * K0)) * K2);
}

function upTo32(words: Words): bigint {
  const multiplier = multiplierOf(words);
  const [a, b] = [wrap(words.word(0) * K1), words.word(8)];
  const [c, d] = [wrap(words.word(-8) * multiplier), wrap(words.word(-16) * K2)];
  return mix(rotate(wrap(a + b), 43n) + rotate(c, 30n) + d, a + rotate(wrap(b + K2), 18n) + c, multiplier);
}

function upTo64(words: Words): bigint {
  const multiplier = multiplierOf(words);
  const [a, b] = [wrap(words.word(0) * K2), words.word(8)];
  const [c, d] = [wrap(words.word(-8) * multiplier), wrap(words.word(-16) * K2)];
  const y = wrap(rotate(wrap(a + b), 43n) + rotate(c, 30n) + d);
  const z = mix(y, a + rotate(wrap(b + K2), 18n) + c, multiplier);
  const [e, f] = [wrap(words.word(16) * multiplier), words.word(24)];
  const [g, h] = [wrap((y + words.word(-32)) * multiplier), wrap((z + words.word(-24)) * multiplier)];
  return mix(rotate(wrap(e + f), 43n) + rotate(g, 30n) + h, e + rotate(wrap(f + a), 18n) + g, multiplier);
}

/** Two words of state from 32 bytes. */
function weak(words: Words, at: number, a: bigint, b: bigint): readonly [bigint, bigint] {
  const first = wrap(a + words.word(at));
  const second = rotate(wrap(b + first + words.word(at + 24)), 21n);
  const sum = wrap(first + words.word(at + 8) + words.word(at + 16));
  return [wrap(sum + words.word(at + 24)), wrap(second + rotate(sum, 44n) + first)];
}

function longer(words: Words): bigint {
  const rest = (words.length - 1) & 63;
  const end = words.length - 1 - rest;
  let [x, y] = [wrap(SEED * K2 + words.word(0)), wrap(SEED * K1 + 113n)];
  let z = wrap(shiftMix(wrap(y * K2 + 113n)) * K2);
  let v: readonly [bigint, bigint] = [0n, 0n];
  let w: readonly [bigint, bigint] = [0n, 0n];
  // All blocks of 64 bytes alike; the last one, which may overlap the one before, with another multiplier.
  const round = (at: number, multiplier: bigint, ninefold: bigint): void => {
    const next = wrap(rotate(wrap(x + y + v[0] + words.word(at + 8)), 37n) * multiplier) ^ wrap(w[1] * ninefold);
    y = wrap(rotate(wrap(y + v[1] + words.word(at + 48)), 42n) * multiplier + v[0] * ninefold + words.word(at + 40));
    const turned = wrap(rotate(wrap(z + w[0]), 33n) * multiplier);
    v = weak(words, at, wrap(v[1] * multiplier), wrap(next + w[0]));
    w = weak(words, at + 32, wrap(turned + w[1]), wrap(y + words.word(at + 16)));
    [x, z] = [turned, next];
  };
  for (let at = 0; at !== end; at += 64) round(at, K1, 1n);
  const multiplier = wrap(K1 + ((z & 0xffn) << 1n));
  w = [wrap(w[0] + BigInt(rest)), w[1]];
  v = [wrap(v[0] + w[0]), v[1]];
  w = [wrap(w[0] + v[0]), w[1]];
  round(words.length - 64, multiplier, 9n);
  const left = mix(v[0], w[0], multiplier) + shiftMix(y) * K0 + z;
  return mix(left, mix(v[1], w[1], multiplier) + x, multiplier);
}
