/**
 * @file Which rows are trained on, which choose the best epoch, and which report it. What reports takes no part in any
 * choice: a tenth of the rows each, the newest ones where there is a time.
 */
import { MonolithError } from '../base/errors.js';
import { hashU32 } from '../base/random.js';

export interface Parts {
  readonly train: Uint32Array;
  readonly validation: Uint32Array;
  readonly test: Uint32Array;
  /** Rows that a time was hidden from: `time` alone. */
  readonly cut?: bigint;
}

export type SplitWay = 'time' | 'row' | 'column' | 'files';

const TENTH = 0.1;
/** Sets the draw of parts apart from other draws of the seed. */
const DRAW = 0x5eed;

/** By a hash of the row's number. */
export function partsByRow(rows: number, seed: number): Parts {
  return byShare(rows, (row) => hashU32(seed, DRAW, row) / 2 ** 32);
}

/** By a hash of the value in a column: all rows of one value are in one part. */
export function partsByKey(keys: Uint32Array, seed: number): Parts {
  return byShare(keys.length, (row) => hashU32(seed, DRAW, keys[row]!) / 2 ** 32);
}

/** The newest tenth reports, the tenth before it chooses. Rows of one time are in one part. */
export function partsByTime(times: BigInt64Array): Parts {
  const sorted = times.slice().sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  const [first, second] = [at(1 - 2 * TENTH), at(1 - TENTH)];
  const parts = collected(times.length, (row) => (times[row]! >= second ? 2 : times[row]! >= first ? 1 : 0));
  return { ...parts, cut: second };
}

/** Rows of files of their own report; a tenth of the others chooses. `rest` are the first rows. */
export function partsByFiles(rest: number, rows: number, seed: number): Parts {
  return collected(rows, (row) => (row >= rest ? 2 : hashU32(seed, DRAW, row) / 2 ** 32 < TENTH ? 1 : 0));
}

function byShare(rows: number, share: (row: number) => number): Parts {
  return collected(rows, (row) => {
    const drawn = share(row);
    return drawn < TENTH ? 2 : drawn < 2 * TENTH ? 1 : 0;
  });
}

function collected(rows: number, part: (row: number) => 0 | 1 | 2): Parts {
  const parts = new Uint8Array(rows);
  const sizes: [number, number, number] = [0, 0, 0];
  for (let row = 0; row < rows; row++) {
    const to = part(row);
    parts[row] = to;
    sizes[to]++;
  }
  const [train, validation, test] = sizes.map((size) => new Uint32Array(size)) as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ];
  const all = [train, validation, test];
  const ends = [0, 0, 0];
  for (let row = 0; row < rows; row++) {
    const to = parts[row]!;
    all[to]![ends[to]!++] = row;
  }
  return { train, validation, test };
}

/** ML_DATASET where a part is too small to say anything, ML_LABEL where it has one class alone. */
export function checkParts(parts: Parts, label: Float32Array, named: string): void {
  for (const part of ['train', 'validation', 'test'] as const) {
    const rows = parts[part];
    if (rows.length === 0) {
      const reason = `there are ${label.length} rows, too few to hold some out: none is left for ${part}`;
      throw new MonolithError(
        'ML_DATASET',
        { reason },
        { hint: 'some hundred rows are needed; --split row needs the least' },
      );
    }
  }
  const first = label[0];
  if (!label.some((value) => value !== first)) {
    const reason = `it is ${first} in all ${label.length} rows, so there is nothing to learn`;
    throw new MonolithError('ML_LABEL', { label: named, reason });
  }
}
