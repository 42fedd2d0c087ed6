/** @file One record of a TFRecord file of tf.Example: what is checked of its bytes, and the row it is. */
import { crc32c, maskCrc } from '../../base/crc32c.js';
import { MonolithError, messageOf } from '../../base/errors.js';
import { checkLimit } from '../../base/limits.js';
import { RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../../io/record-writer.js';
import { u64 } from './piece-buffer.js';
import { type DataRow, withPlace } from './place.js';

/** A record of a file, counted from 0, and the byte it begins at. */
export interface RecordPlace {
  readonly file: string;
  readonly record: number;
  readonly byte: number;
}

/** Bytes of the payload by the header of its record, whose file has `found` bytes from there on. */
export function payloadSize(header: Uint8Array, found: number, place: RecordPlace): number {
  if (found < RECORD_HEADER_BYTES) {
    throw damaged(place, 'length', `file ends after ${found} of ${RECORD_HEADER_BYTES} header bytes`);
  }
  const size = Number(u64(header));
  if (word(header, 8) !== maskCrc(crc32c(header.slice(0, 8)))) {
    throw damaged(place, 'length checksum', 'it does not match');
  }
  checkLimit('recordBytes', size, (reason) => {
    throw damaged(place, 'length', reason);
  });
  return size;
}

/** ML_RECORD for a payload of `size` bytes of which the file has `left`, its footer among them. */
export function cutPayload(place: RecordPlace, left: number, size: number): MonolithError {
  return damaged(place, 'payload', `file ends after ${left} of ${size + RECORD_FOOTER_BYTES} bytes`);
}

/** ML_RECORD for a payload whose checksum is another than its footer's. */
export function checkPayload(payload: Uint8Array, footer: Uint8Array, place: RecordPlace): void {
  if (word(footer, 0) !== maskCrc(crc32c(payload))) throw damaged(place, 'payload checksum', 'it does not match');
}

/** The row of a payload; undefined of one that is no example, once `onBadRow` was told. */
export function recordRow(
  make: () => DataRow,
  { file, record, byte }: RecordPlace,
  onBadRow: (error: MonolithError) => void,
): DataRow | undefined {
  try {
    return withPlace(make(), { file, line: record, byte, unit: 'record' });
  } catch (cause) {
    const where = `${file} record ${record}, byte ${byte}`;
    onBadRow(
      new MonolithError('ML_DATA', { where, row: record, column: '(all)', reason: messageOf(cause) }, { cause }),
    );
    return undefined;
  }
}

function damaged({ file, record, byte }: RecordPlace, field: string, reason: string): MonolithError {
  return new MonolithError('ML_RECORD', { file, record, field, offset: byte, reason });
}

const word = (bytes: Uint8Array, at: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0, true);
