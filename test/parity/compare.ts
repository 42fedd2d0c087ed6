/**
 * @file Compares what was computed with what a parity file expects, under the tolerance of the case.
 *
 * Conventions of the file: integers beyond 2^53 and non-finite numbers are strings, `{"range":[a,b]}` stands for
 * a..b-1, keys that end in `_unordered` or `_sorted` compare after sorting. A name of the result is looked for by its
 * meaning (derived.ts), so `w_last` is the last entry of `w`; a result that stands alone needs no name.
 */
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { Tensor } from '../../src/tensor/tensor.js';
import { isRecord, type Tolerance, UnknownKeys } from './case.js';
import { derive, Series } from './derived.js';

const DIFFERENCES_MAX = 3;

/** Differences as sentences; none when `actual` is what is expected. Names that nothing was computed for are thrown. */
export function differences(actual: unknown, expected: unknown, tolerance: Tolerance = { exact: true }): string[] {
  const found: string[] = [];
  const [only] = isRecord(actual) && !isRecord(plain(expected)) ? Object.values(actual) : [];
  const given = only ?? actual;
  if (isRecord(expected) && !('range' in expected)) {
    const unknown = Object.keys(expected).filter((key) => derive(key, given) === undefined);
    if (unknown.length > 0) throw new UnknownKeys(unknown, 'the expectation');
  }
  walk(plain(given), expected, tolerance, '', found);
  return found.slice(0, DIFFERENCES_MAX);
}

/** Tensors and typed arrays as lists. */
function plain(value: unknown): unknown {
  if (value instanceof Tensor || value instanceof RaggedTensor) return value.toArray();
  if (ArrayBuffer.isView(value)) return [...(value as unknown as Iterable<unknown>)];
  return value;
}

/**
 * One number stands for a list of it alone and a list of one for its number; a series for its last where that is meant.
 */
function ofSameDepth(actual: unknown, expected: unknown): unknown {
  if (actual instanceof Series) return plain(actual.like(expected));
  const leaf = typeof expected !== 'object';
  if (leaf && Array.isArray(actual) && actual.length === 1) return ofSameDepth(plain(actual[0]), expected);
  const alone = Array.isArray(expected) && expected.length === 1 && !Array.isArray(actual);
  return alone && typeof actual !== 'object' && typeof expected[0] !== 'object' ? [actual] : actual;
}

/** The list behind `{"range":[a,b]}`, anything else as it is. */
export function expandRange(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('range' in value) || Object.keys(value).length !== 1)
    return value;
  const [begin, end] = value.range as [number, number];
  return Array.from({ length: end - begin }, (_, i) => begin + i);
}

function walk(given: unknown, wanted: unknown, tolerance: Tolerance, path: string, found: string[]): void {
  if (found.length >= DIFFERENCES_MAX) return;
  const expected = expandRange(wanted);
  const actual = ofSameDepth(plain(given), expected);
  const at = path === '' ? 'the result' : path;
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) found.push(`${at} is ${text(actual)}, not a list`);
    else if (actual.length !== expected.length)
      found.push(`${at} has ${actual.length} entries, not ${expected.length}`);
    else {
      for (const [i, item] of expected.entries()) {
        walk(actual[i], item, entryTolerance(tolerance, path, i), `${path}[${i}]`, found);
      }
    }
  } else if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null) {
      found.push(`${at} is ${text(actual)}, not a record`);
      return;
    }
    for (const [key, item] of Object.entries(expected)) {
      const under = path === '' ? key : `${path}.${key}`;
      const computed = derive(key, actual);
      if (computed === undefined) found.push(`${under} was not computed`);
      else walkKey(key, computed.value, item, tolerance, under, found);
    }
  } else if (!sameLeaf(actual, expected, tolerance)) found.push(`${at} is ${text(actual)}, not ${text(expected)}`);
}

function walkKey(key: string, actual: unknown, expected: unknown, tolerance: Tolerance, path: string, found: string[]) {
  const sorts = key.endsWith('_unordered') || key.endsWith('_sorted');
  const state = tolerance.abs_state !== undefined && /state/.test(key);
  const used = state ? { ...tolerance, abs: tolerance.abs_state! } : tolerance;
  if (key === 'error') {
    // Files give the beginning of messages that go on with values of the process.
    if (!String(actual).startsWith(String(expected))) found.push(`${path} is ${text(actual)}, not ${text(expected)}`);
  } else if (sorts) walk(sorted(plain(actual)), sorted(expandRange(expected)), used, path, found);
  else walk(actual, expected, used, path, found);
}

function sorted(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const order = (item: unknown) => (Array.isArray(item) ? text(item) : item) as number;
  return value.map(plain).sort((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
}

function entryTolerance(tolerance: Tolerance, path: string, index: number): Tolerance {
  const abs = tolerance.abs_per_case?.[index];
  return abs === undefined || path.includes('[') ? tolerance : { ...tolerance, abs };
}

function sameLeaf(actual: unknown, expected: unknown, tolerance: Tolerance): boolean {
  if (typeof actual === 'bigint') {
    if (typeof expected === 'string') return /^-?\d+$/.test(expected) && sameBits(actual, BigInt(expected));
    return Number.isSafeInteger(expected) && actual === BigInt(expected as number);
  }
  if (typeof actual === 'number') {
    const wanted = numberOf(expected);
    return wanted !== undefined && sameNumber(actual, wanted, tolerance);
  }
  return actual === expected;
}

/** Ids are bit patterns: -1 and 2^64 - 1 are the same. */
function sameBits(a: bigint, b: bigint): boolean {
  return BigInt.asUintN(64, a) === BigInt.asUintN(64, b);
}

function numberOf(expected: unknown): number | undefined {
  if (typeof expected === 'number') return expected;
  const named: Record<string, number> = {
    NaN: Number.NaN,
    Inf: Number.POSITIVE_INFINITY,
    '-Inf': Number.NEGATIVE_INFINITY,
  };
  return typeof expected === 'string' ? named[expected] : undefined;
}

function sameNumber(actual: number, expected: number, { exact, abs = 0, rel = 0, ulp = 0 }: Tolerance): boolean {
  if (actual === expected || (Number.isNaN(actual) && Number.isNaN(expected))) return true;
  if (actual === Math.fround(expected)) return true;
  if (exact === true || !Number.isFinite(expected)) return false;
  const exponent = Math.max(-126, Math.floor(Math.log2(Math.abs(expected) || 2 ** -126)));
  return Math.abs(actual - expected) <= Math.max(abs + rel * Math.abs(expected), ulp * 2 ** (exponent - 23));
}

function text(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  const written = JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : plain(item)));
  const whole = written === undefined ? String(value) : written;
  return whole.length > 120 ? `${whole.slice(0, 117)}...` : whole;
}
