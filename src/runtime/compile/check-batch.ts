/**
 * @file Looks a batch over before a step runs on it: a batch that does not fit is refused and the session goes on,
 * while the same found by a kernel ends it.
 */
import { MonolithError } from '../../base/errors.js';
import { BATCH, type BatchSchema, pointerCount } from '../../memory/batch.js';
import type { Views } from '../../memory/views.js';
import type { RaggedMost } from './compile-environment.js';
import type { SlicePlan } from './lowering.js';

/**
 * A ragged feed of a program: where its splits are in a batch header, the values a slice has room for, and what a batch
 * may have at the most.
 */
export interface RaggedLimit {
  readonly name: string;
  readonly word: number;
  readonly capacity: number;
  readonly most: RaggedMost;
}

/**
 * A dense feed with a column that names classes: where its values are, how many classes there are, and for which op.
 */
export interface ClassLimit {
  readonly name: string;
  readonly word: number;
  readonly column: number;
  readonly width: number;
  readonly classes: number;
  readonly op: string;
}

/** A feed of a program: where its first pointer is in a batch header. */
export interface NeededFeed {
  readonly name: string;
  readonly word: number;
}

/** A feed of which a column is times: where its values are, in words. */
export interface TimeLimit {
  readonly name: string;
  readonly word: number;
  readonly offset: number;
  readonly stride: number;
}

/** What feeds of a program have to keep to. */
export interface FeedLimits {
  /** Feeds that a batch must have values of. */
  readonly needed: readonly NeededFeed[];
  readonly ragged: readonly RaggedLimit[];
  readonly classes: readonly ClassLimit[];
  readonly times: readonly TimeLimit[];
}

export interface BatchLimits {
  readonly batchSize: number;
  readonly schema: BatchSchema;
  /** Those of the schema, then those of queues. */
  readonly feeds: BatchSchema;
  readonly plan: SlicePlan;
}

/**
 * Throws ML_FEED when `batch` is no batch of the schema, lacks a feed, holds more than the feeds of the program may, or
 * names no class. For more than its buffers hold, see batch-room.ts.
 */
export function checkBatch(views: Views, batch: number, limits: BatchLimits, feeds: FeedLimits): void {
  const { needed, ragged, classes, times } = feeds;
  const { schema, feeds: all, batchSize } = limits;
  const at = batch / 4;
  const { u32, i32 } = views;
  const pointers = u32[at + BATCH.pointerCount]!;
  // A batch from a queue has feeds beyond those of the input.
  const isKnown = pointers === pointerCount(schema) || pointers === pointerCount(all);
  if (!Number.isInteger(batch / 64) || batch <= 0 || !isKnown) {
    throw misfit('batch', `there is no batch at address ${batch}`);
  }
  for (const { name, word } of needed) {
    if (word >= BATCH.pointers + pointers || u32[at + word] === 0)
      throw misfit(name, 'no value was given', 'the fetches of this run need it');
  }
  const rows = u32[at + BATCH.rows]!;
  if (rows > batchSize) throw misfit('batch', `${rows} rows, the session holds ${batchSize}`);
  for (const limit of ragged) checkValues(i32, u32[at + limit.word]! / 4, rows, batchSize, limit);
  for (const limit of classes) checkClasses(views.f32, u32[at + limit.word]! / 4, rows, limit);
  for (const limit of times) checkTimes(u32, u32[at + limit.word]! / 4, rows, limit);
}

/** A batch shares what it may have: where its slices begin, which follows from the number of threads, is all one. */
function checkValues(i32: Int32Array, splits: number, rows: number, batchSize: number, limit: RaggedLimit): void {
  const { name, capacity, most } = limit;
  const values = i32[splits + rows]! - i32[splits]!;
  if ('perRow' in most) {
    const planned = Math.ceil(batchSize * most.perRow);
    if (values <= planned) return;
    const reason = `${values} values in the batch are more than the ${planned} planned for`;
    throw misfit(name, reason, 'raise valuesPerRow of its placeholder');
  }
  // A row that is too long does not fit into a slice either, but for buffers that are larger than any row may be.
  if (values <= Math.min(capacity, most.inRow)) return;
  for (let row = 0; row < rows; row++) {
    const length = i32[splits + row + 1]! - i32[splits + row]!;
    if (length <= most.inRow) continue;
    const reason = `row ${row} has ${length} values, and one may have ${most.inRow}`;
    throw misfit(name, reason, `give its placeholder a rowMax of ${length}, or f.ids a max, if this is meant`);
  }
}

/** Rows stamped with milliseconds, or with a time before 1970, would never expire, or at once. */
function checkTimes(u32: Uint32Array, at: number, rows: number, { name, offset, stride }: TimeLimit): void {
  for (let row = 0; row < rows; row++) {
    const low = at + offset + row * stride;
    if (u32[low + 1] === 0 && u32[low] !== 0xffffffff) continue;
    const value = (BigInt(u32[low + 1]! | 0) << 32n) | BigInt(u32[low]!);
    throw misfit(name, `row ${row} has the time ${value}`, 'times are Unix seconds');
  }
}

/** The loss of a class that does not exist is no number, and neither is any weight after it. */
function checkClasses(f32: Float32Array, at: number, rows: number, limit: ClassLimit): void {
  const { name, column, width, classes, op } = limit;
  for (let row = 0; row < rows; row++) {
    const value = f32[at + column + row * width]!;
    if (value >= 0 && value < classes && Number.isInteger(value)) continue;
    const reason = `row ${row} has the class ${value}, and ${op} has the classes 0 to ${classes - 1}`;
    throw misfit(name, reason, 'give whole numbers from 0, and a logit for each class');
  }
}

function misfit(name: string, reason: string, hint?: string): MonolithError {
  return new MonolithError('ML_FEED', { name, reason }, hint === undefined ? {} : { hint });
}
