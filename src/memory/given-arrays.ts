/**
 * @file Arrays as people pass them, as the ones that kernels read: floats as float32, ids as 64 bits.
 *
 * The right typed array is taken as it is. One of another realm (vm, Jest, Electron) is looked at through a view of the
 * same memory; other typed arrays, lists, lists of lists and single values are copied. What cannot be taken is refused
 * with the place it stands at.
 */
import type { MonolithError } from '../base/errors.js';
import { isDetached } from './whole-array.js';

/** Typed arrays of whole numbers below 2^53. */
export type IntegerArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array;
/** Floats in any form: one, an array, or lists of them; taken in row-major order and rounded to float32. */
export type Floats = number | Float32Array | Float64Array | IntegerArray | readonly Floats[];
/**
 * 64-bit ids in any form: one, an array, or lists of them; taken in row-major order. An id is a pattern of 64 bits, so
 * either reading of the top bit is welcome. Numbers do as long as they are whole and below 2^53.
 */
export type Ids = bigint | number | BigInt64Array | BigUint64Array | IntegerArray | readonly Ids[];

/** Makes the error of what cannot be taken. */
export type Refuse = (reason: string, hint?: string) => MonolithError;

/** Lists of lists of more levels are taken for lists that hold themselves. */
const DEPTH_MAX = 16;
const INTEGERS = /^(Ui|I)nt(8|16|32)(Clamped)?Array$/;
const BIGINT_HINT = 'numbers are exact below 2^53 only: write ids as 123n, or keep them in a BigInt64Array';

/** Name of the kind of a typed array, whatever realm it is of; undefined for anything else. */
function typedArray(value: unknown): string | undefined {
  return ArrayBuffer.isView(value) ? (value as Float32Array)[Symbol.toStringTag] : undefined;
}

/** What was given, in a few words. */
export function describe(value: unknown): string {
  const typed = typedArray(value);
  if (typed !== undefined) return `a ${typed} of ${(value as Float32Array).length ?? value}`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'bigint':
      return `${value}n`;
    case 'object':
      return value === null ? 'null' : `an object with ${Object.keys(value).slice(0, 4).join(', ') || 'nothing in it'}`;
    case 'function':
    case 'symbol':
      return `a ${typeof value}`;
    default:
      return String(value);
  }
}

export function floatsOf(given: unknown, refuse: Refuse): Float32Array {
  if (given instanceof Float32Array) return given;
  const kind = typedArray(given);
  if (kind === 'Float32Array') return here(Float32Array, given as Float32Array, refuse);
  if (kind === 'Float64Array' || (kind !== undefined && INTEGERS.test(kind))) {
    return Float32Array.from(attached(given as Float64Array, refuse));
  }
  if (typeof given === 'number') return Float32Array.of(given);
  if (!Array.isArray(given)) throw refuse(`${describe(given)} was given`);
  const flat: number[] = [];
  walk(given, refuse, (value, path) => {
    if (typeof value !== 'number') throw refuse(`${path()} is ${describe(value)}, no number`);
    flat.push(value);
  });
  return Float32Array.from(flat);
}

export function idsOf(given: unknown, refuse: Refuse): BigInt64Array {
  if (given instanceof BigInt64Array) return given;
  const kind = typedArray(given);
  if (kind === 'BigInt64Array' || kind === 'BigUint64Array') return here(BigInt64Array, given as BigInt64Array, refuse);
  if (kind !== undefined && INTEGERS.test(kind)) {
    return BigInt64Array.from(attached(given as Int32Array, refuse), BigInt);
  }
  if (typeof given === 'bigint' || typeof given === 'number') return BigInt64Array.of(idOf(given, refuse));
  if (!Array.isArray(given)) throw refuse(`${describe(given)} was given`);
  const flat: bigint[] = [];
  walk(given, refuse, (value, path) => {
    flat.push(idOf(value, (reason, hint) => refuse(`${path()} is ${reason}`, hint)));
  });
  return BigInt64Array.from(flat);
}

/** One id as a bigint, which has its 64 bits. */
export function idOf(given: unknown, refuse: Refuse): bigint {
  if (typeof given === 'bigint') {
    if (BigInt.asIntN(64, given) === given || BigInt.asUintN(64, given) === given) return given;
    throw refuse(`${given}n, which has more than 64 bits`);
  }
  if (typeof given !== 'number') throw refuse(`${describe(given)}, no id`, 'ids are bigints, or whole numbers');
  if (Number.isSafeInteger(given)) return BigInt(given);
  throw refuse(`${given}, no whole number below 2^53`, BIGINT_HINT);
}

/** Calls `visit` for every value of lists of lists, in order; typed arrays among them count as lists. */
function walk(list: readonly unknown[], refuse: Refuse, visit: (value: unknown, path: () => string) => void): void {
  const at: number[] = [];
  const path = () => `value ${at.map((index) => `[${index}]`).join('')}`;
  const descend = (level: ArrayLike<unknown>): void => {
    if (at.push(0) > DEPTH_MAX) throw refuse(`its lists are nested deeper than ${DEPTH_MAX}`);
    for (let index = 0; index < level.length; index++) {
      at[at.length - 1] = index;
      const value = level[index];
      if (Array.isArray(value)) descend(value);
      else if (typedArray(value) !== undefined) descend(value as Float32Array);
      else visit(value, path);
    }
    at.pop();
  };
  descend(list);
}

interface ArrayOver<T> {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
}

/** The same memory through a class of this realm. */
function here<T>(type: ArrayOver<T>, given: Float32Array | BigInt64Array, refuse: Refuse): T {
  const { buffer, byteOffset, length } = attached(given, refuse);
  return new type(buffer, byteOffset, length);
}

function attached<T extends ArrayBufferView>(array: T, refuse: Refuse): T {
  if (!isDetached(array)) return array;
  const hint = 'pass an array before its buffer is transferred, or a copy of it';
  throw refuse('its array has no memory any more: it was transferred', hint);
}
