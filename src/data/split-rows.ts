/** @file Parts rows into those to train on and those that are held out. */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { hashU32 } from '../base/random.js';
import { timeOf } from './cells.js';
import { textId } from './farmhash.js';
import { type DataRow, placeOf } from './files/place.js';
import { type Blocks, cellOf, noColumn, refuse } from './row-blocks.js';
import type { RowStep } from './row-step.js';
import type { Features, Schema } from './schema.js';

export interface SplitOptions {
  /** The part that is held out, such as 0.1. */
  readonly test: number;
  /**
   * What decides: `row` a hash of the row's number, `time` the newest rows by `f.time()` of the schema, or a column:
   * all rows of one value of it are in one part. Default: `time` where the schema has one, else `row`.
   */
  readonly by?: 'row' | 'time' | (string & {});
  readonly seed?: number;
}

export interface SplitBlocks<R> {
  readonly train: Blocks<R>;
  readonly test: Blocks<R>;
  /** Both as plain data, where no pass over the rows has to come before. */
  readonly steps?: readonly [train: RowStep, test: RowStep];
}

/** The rows to train on, and those held out. */
export function splitBlocks<R extends DataRow, F extends Features>(
  blocks: Blocks<R>,
  schema: Schema<F> | undefined,
  options: SplitOptions,
): SplitBlocks<R> {
  const { test, seed = 0, by: given } = checkOptions('Dataset.split', options, ['test', 'by', 'seed']);
  if (!(test > 0 && test < 1)) throw refuse('split', 'test', `${String(test)} is no part between 0 and 1`);
  const time = timeField(schema);
  const by = given ?? (time === undefined ? 'row' : 'time');
  if (by === 'time') {
    if (time === undefined) throw refuse('split', 'by', 'the schema has no f.time() to split by');
    const [train, newest] = byTime(blocks, test, time);
    return { train, test: newest };
  }
  const below = Math.round(test * 2 ** 32);
  const part = (wanted: boolean): Blocks<R> =>
    async function* (pass) {
      let number = 0;
      let isKnown = by === 'row';
      for await (const rows of blocks(pass)) {
        // Rows that have names of their own may lack it, but not all of the first ones.
        if (!isKnown && rows.length > 0 && !rows.some((row) => by in row)) throw noColumn(rows[0]!, by);
        isKnown ||= rows.length > 0;
        yield rows.filter((row) => {
          const hash = by === 'row' ? hashU32(seed, number++) : hashText(seed, String(row[by]));
          return hash < below === wanted;
        });
      }
    };
  const step = (test: boolean): RowStep => ({ kind: 'split', by, seed, below, test });
  return { train: part(false), test: part(true), steps: [step(false), step(true)] };
}

/** The newest rows are held out: a first pass finds the time that parts them. */
function byTime<R extends DataRow>(
  blocks: Blocks<R>,
  test: number,
  { column, read }: TimeColumn,
): [Blocks<R>, Blocks<R>] {
  let found: Promise<bigint> | undefined;
  const cut = () => {
    found ??= (async () => {
      const times: bigint[] = [];
      for await (const rows of blocks()) for (const row of rows) times.push(read(row));
      if (times.length === 0) throw new MonolithError('ML_DATASET', { reason: `no row has a ${column}` });
      const sorted = BigInt64Array.from(times).sort();
      return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * (1 - test)))]!;
    })();
    return found;
  };
  const part = (wanted: boolean): Blocks<R> =>
    async function* (pass) {
      const end = await cut();
      for await (const rows of blocks(pass)) yield rows.filter((row) => read(row) >= end === wanted);
    };
  return [part(false), part(true)];
}

interface TimeColumn {
  readonly column: string;
  readonly read: (row: DataRow) => bigint;
}

function timeField<F extends Features>(schema: Schema<F> | undefined): TimeColumn | undefined {
  for (const [name, { field }] of Object.entries(schema?.features ?? {})) {
    if (field?.role !== 'time') continue;
    const column = field.from ?? name;
    const read = (row: DataRow) =>
      timeOf(field, cellOf(row, column), (reason) => {
        return new MonolithError('ML_DATA', { where: placeOf(row) ?? 'a row', row: 0, column, reason });
      });
    return { column, read };
  }
  return undefined;
}

function hashText(seed: number, text: string): number {
  return hashId(seed, textId(text));
}

/** The hash that decides on which side rows of an id are. */
export function hashId(seed: number, id: bigint): number {
  return hashU32(seed, Number(BigInt.asUintN(32, id)), Number(BigInt.asUintN(32, id >> 32n)));
}
