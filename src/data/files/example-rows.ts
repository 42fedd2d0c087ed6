/**
 * @file Rows of a TFRecord file of `tensorflow.Example`, compressed or not: one value of a feature is a cell, several
 * are a list, a feature without values is a missing one.
 */
import { MonolithError } from '../../base/errors.js';
import { RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../../io/record-writer.js';
import { checkPayload, cutPayload, payloadSize, type RecordPlace, recordRow } from './example-records.js';
import { ExampleRows } from './example-row.js';
import { PieceBuffer } from './piece-buffer.js';
import type { DataRow } from './place.js';
import { readBytes } from './read-bytes.js';

/** Rows that are handed on together. */
const BLOCK_ROWS = 512;

export async function* exampleRows(file: string, onBadRow: (error: MonolithError) => void): AsyncGenerator<DataRow[]> {
  const buffer = new PieceBuffer(readBytes(file));
  try {
    const made = new ExampleRows();
    let rows: DataRow[] = [];
    let record = 0;
    for (; ; record++) {
      const place = { file, record, byte: buffer.offset };
      const payload = await nextPayload(buffer, place);
      if (payload === undefined) break;
      const row = recordRow(() => made.row(payload), place, onBadRow);
      if (row !== undefined) rows.push(row);
      if (rows.length < BLOCK_ROWS) continue;
      yield rows;
      rows = [];
    }
    if (record === 0) throw new MonolithError('ML_DATASET', { reason: `${file} is empty` });
    if (rows.length > 0) yield rows;
  } finally {
    await buffer.close();
  }
}

/** The next record of the file; undefined at its end. ML_RECORD for one that is cut or damaged. */
async function nextPayload(buffer: PieceBuffer, place: RecordPlace): Promise<Uint8Array | undefined> {
  const found = Math.min(RECORD_HEADER_BYTES, await buffer.fill(RECORD_HEADER_BYTES));
  if (found === 0) return undefined;
  const size = payloadSize(buffer.take(found), found, place);
  const left = await buffer.fill(size + RECORD_FOOTER_BYTES);
  if (left < size + RECORD_FOOTER_BYTES) throw cutPayload(place, left, size);
  const payload = buffer.take(size);
  checkPayload(payload, buffer.take(RECORD_FOOTER_BYTES), place);
  return payload;
}
