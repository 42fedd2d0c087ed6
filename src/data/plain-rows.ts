/** @file Rows as objects whose values are what feeds take: numbers, ids, lists of them. */
import { MonolithError } from '../base/errors.js';
import type { BatchSchema, FeedData, FeedSpec, PartialBatchData } from '../memory/batch.js';
import { feedOf } from '../tensor/feed-values.js';

/** The arrays of a batch of `rows`; features that no row has are left out. ML_FEED names the feature and the row. */
export function encodePlainRows(schema: BatchSchema, rows: readonly unknown[], firstRow = 0): PartialBatchData {
  rows.forEach((row, index) => {
    if (typeof row === 'object' && row !== null) return;
    throw new MonolithError('ML_FEED', {
      name: 'rows',
      reason: `row ${firstRow + index} is ${String(row)}, no object`,
    });
  });
  return { rows: rows.length, feeds: schema.map((spec) => column(spec, rows as readonly Record<string, unknown>[])) };
}

function column(spec: FeedSpec, rows: readonly Record<string, unknown>[]): FeedData | undefined {
  const values = rows.map((row) => row[spec.name]);
  if (values.every((value) => value === undefined)) return undefined;
  const missing = values.indexOf(undefined);
  if (missing >= 0)
    throw new MonolithError('ML_FEED', { name: spec.name, reason: `row ${missing} has no value of it` });
  return feedOf(spec, spec.kind === 'ragged' ? values.map(inList) : values, () => undefined);
}

function inList(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'bigint' ? [value] : value;
}
