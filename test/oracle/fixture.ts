/**
 * @file What TensorFlow computed, as make_numbers.py and make_files.py wrote it down. Nothing of it is needed to run
 * the tests.
 */
import { readFileSync } from 'node:fs';

export interface OracleTensor {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

export interface OpCase {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly feeds: Readonly<Record<string, OracleTensor>>;
  readonly weights: Readonly<Record<string, OracleTensor>>;
  /** What the elements of the output are multiplied by in the loss that gradients are of. */
  readonly factors: readonly number[];
  readonly out: readonly number[];
  readonly grads: Readonly<Record<string, readonly number[]>>;
}

export interface Numbers {
  readonly batch: number;
  readonly ops: readonly OpCase[];
  readonly clipping: {
    readonly shapes: readonly (readonly number[])[];
    readonly values: readonly (readonly number[])[];
    readonly cases: readonly {
      readonly clip: number;
      readonly norm: readonly number[];
      readonly global: readonly (readonly number[])[];
      readonly each: readonly (readonly number[])[];
    }[];
  };
  readonly optimizers: {
    readonly initial: readonly number[];
    readonly gradients: readonly (readonly number[])[];
    readonly results: Readonly<
      Record<string, { readonly after: readonly number[]; readonly slots: Readonly<Record<string, readonly number[]>> }>
    >;
  };
  readonly metrics: Readonly<Record<string, number | readonly number[]>>;
}

export interface Files {
  readonly bundles: readonly {
    readonly what: string;
    /** Contents in base64, by name. */
    readonly files: Readonly<Record<string, string>>;
    /** Values in base64: all bytes, or a list of strings. */
    readonly tensors: readonly {
      readonly name: string;
      readonly dtype: string;
      readonly shape: readonly number[];
      readonly data: string | readonly string[];
    }[];
  }[];
  readonly records: Readonly<Record<'plain' | 'snappy' | 'gzip', string>>;
  readonly payloads: readonly string[];
}

// Tests run from build/test/oracle/.
const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../test/fixtures/oracle/${name}`, import.meta.url), 'utf8'));

export const numbers = read('numbers.json') as Numbers;
export const files = read('files.json') as Files;

/** The largest difference, as a share of the larger of 1 and the expected value; infinite where the lengths differ. */
export function distance(found: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (found.length !== expected.length) return Number.POSITIVE_INFINITY;
  let most = 0;
  for (let i = 0; i < expected.length; i++) {
    const off = Math.abs(found[i]! - expected[i]!) / Math.max(1, Math.abs(expected[i]!));
    most = Math.max(most, Number.isNaN(off) ? Number.POSITIVE_INFINITY : off);
  }
  return most;
}
