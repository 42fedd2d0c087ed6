/**
 * @file What the training of ctr-ref is fed with: arrays of a file, batches that lie in memory, tables in CSV, JSON
 * lines or TFRecord. Tables have 40 columns, a label, I1 to I13 and C1 to C26, and the model a feed for each; batches
 * in memory have them too, so that both train the same model.
 */
import { appendFileSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { MonolithError } from '../src/base/errors.js';
import { f } from '../src/data/fields.js';
import { exampleEncoder } from '../src/data/files/write-examples.js';
import { quickPlan } from '../src/data/quick/quick-plan.js';
import { openQuick } from '../src/data/quick/quick-source.js';
import { type Feature, Schema } from '../src/data/schema.js';
import { bytesFor, type FeedData, writeBatch } from '../src/memory/batch.js';
import type { Session } from '../src/runtime/session/session.js';
import { coreOf } from '../src/runtime/session/session-handle.js';
import type { TrainInput } from '../src/train/train-input.js';
import { CATEGORIES, DENSE } from './ctr-ref.js';
import { readCtrFile } from './ctr-ref-files.js';

export const CTR_FEEDS = ['arrays', 'memory', 'csv', 'jsonl', 'tfrecord'] as const;
export type CtrFeed = (typeof CTR_FEEDS)[number];
/** Rows that are written together. */
const WRITTEN_ROWS = 4096;
const DIGITS = 6;

const NUMBERS = Array.from({ length: DENSE }, (_, n) => `I${n + 1}`);
const IDS = Array.from({ length: CATEGORIES }, (_, n) => `C${n + 1}`);

/** A field for each column. */
export const CTR_COLUMNS = new Schema<Record<string, Feature>>({
  label: f.label(),
  ...Object.fromEntries(NUMBERS.map((name) => [name, f.number()])),
  ...Object.fromEntries(IDS.map((name) => [name, f.id()])),
});

export interface OpenFeed {
  readonly input: TrainInput;
  close(): unknown;
}

/** The table of train.bin in this format, which is written when it is first asked for. */
export function ctrTable(dir: string, feed: 'csv' | 'jsonl' | 'tfrecord'): string {
  const file = `${dir}/train.${feed}`;
  if (existsSync(file)) return file;
  const { count, labels, dense, ids } = readCtrFile(`${dir}/train.bin`);
  const part = `${file}.part`;
  const records = exampleEncoder();
  writeFileSync(part, feed === 'csv' ? `${['label', ...NUMBERS, ...IDS].join(',')}\n` : '');
  for (let first = 0; first < count; first += WRITTEN_ROWS) {
    const rows = Array.from({ length: Math.min(WRITTEN_ROWS, count - first) }, (_, n) => {
      const row = first + n;
      const floats = dense.subarray(row * DENSE, (row + 1) * DENSE);
      return {
        numbers: Array.from(floats, (value) => Number(value.toPrecision(DIGITS))),
        ids: ids.subarray(row * CATEGORIES, (row + 1) * CATEGORIES),
        label: labels[row]!,
      };
    });
    if (feed === 'tfrecord') {
      const named = rows.map(({ label, numbers, ids: found }) => ({
        label,
        ...Object.fromEntries(NUMBERS.map((name, n) => [name, Float32Array.of(numbers[n]!)])),
        ...Object.fromEntries(IDS.map((name, n) => [name, found[n]!])),
      }));
      appendFileSync(part, records.block(named));
    } else {
      const lines = rows.map(({ label, numbers, ids: found }) => {
        const cells = [label, ...numbers, ...found];
        if (feed === 'csv') return cells.join(',');
        return `{${cells.map((cell, n) => `"${[`label`, ...NUMBERS, ...IDS][n]}":${cell}`).join(',')}}`;
      });
      appendFileSync(part, `${lines.join('\n')}\n`);
    }
  }
  renameSync(part, file);
  return file;
}

/** Opens a table as a thread of its own reads it. */
export async function openTable(session: Session, file: string, batchSize: number): Promise<OpenFeed> {
  const plan = quickPlan({ files: [file], options: {}, schema: CTR_COLUMNS, steps: [] });
  if (plan === undefined) throw new MonolithError('ML_INTERNAL', { reason: `${file} has no plan` });
  const findings = { forms: new Map(), badRows: 0, badRowErrors: [] };
  const input = await openQuick(session, plan, { batchSize, epochs: 1, mode: 'train' }, findings);
  return { input, close: () => input.close?.() };
}

/** Writes the batches of a file of arrays into the memory of the session; their addresses. */
export function residentBatches(session: Session, file: string, batchSize: number): number[] {
  const { count, labels, dense, ids } = readCtrFile(file);
  const { arena, views } = coreOf(session);
  const { specs } = CTR_COLUMNS;
  const batches: number[] = [];
  for (let first = 0; first < count; first += batchSize) {
    const rows = Math.min(batchSize, count - first);
    const column = (width: number, at: number) => (_: unknown, row: number) => (first + row) * width + at;
    const places = Array.from({ length: rows });
    const feeds: FeedData[] = [
      { kind: 'dense', values: labels.subarray(first, first + rows) },
      ...NUMBERS.map((_, n): FeedData => {
        return { kind: 'dense', values: Float32Array.from(places.map(column(DENSE, n)), (at) => dense[at]!) };
      }),
      ...IDS.map((_, n): FeedData => {
        return { kind: 'ids', values: BigInt64Array.from(places.map(column(CATEGORIES, n)), (at) => ids[at]!) };
      }),
    ];
    const at = arena.alloc(bytesFor(specs, rows, []), 'a batch of ctr-ref');
    writeBatch(views, at, specs, { rows, feeds });
    batches.push(at);
  }
  return batches;
}

/** Batches that lie in memory, one after the other. */
export function openResident(batches: readonly number[]): OpenFeed {
  let next = 0;
  const input: TrainInput = {
    batchesAhead: batches.length,
    next: () => {
      if (next === batches.length) throw new MonolithError('ML_OUT_OF_RANGE', { source: 'batches in memory' });
      return batches[next++]!;
    },
  };
  return { input, close: () => undefined };
}
