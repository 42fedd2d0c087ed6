/** @file Errors of table files: each names file, record and field. */
import { MonolithError, messageOf } from '../../base/errors.js';

/** Where in a file something is wrong. */
export interface RecordPlace {
  readonly file: string;
  readonly record: number;
}

/** Bytes that are not what was written: cut off, or a checksum that does not fit. */
export function corruptRecord({ file, record }: RecordPlace, field: string, reason: string, cause?: unknown) {
  const fields = { file, record, field, reason: `record ${record}, ${field}: ${reason}` };
  return new MonolithError('ML_CKPT_CORRUPT', fields, { cause });
}

/** A whole record that is no row of this table: of another shape, or no row at all. */
export function rowError(table: string, { file, record }: RecordPlace, cause: unknown): MonolithError {
  if (!(cause instanceof MonolithError) || cause.code !== 'ML_PROTO') throw cause;
  const field = String(cause.fields.field);
  const reason = String(cause.fields.reason ?? messageOf(cause));
  // A count or a kind that differs is another table's row; anything else is no message.
  if (field.startsWith('EntryDump') || reason.startsWith('holds more than')) {
    return new MonolithError(
      'ML_CKPT_TABLE',
      { table, file, record, field, reason },
      { hint: 'restore into a table with the dimension and optimizers the files were saved with', cause },
    );
  }
  return corruptRecord({ file, record }, field, `Unable to parse data. Data might be corrupted (${reason})`, cause);
}

export function readError(file: string, cause: unknown): MonolithError {
  return new MonolithError('ML_CKPT_READ', { file, reason: messageOf(cause) }, { cause });
}

/** Runs `action`; what a reader of records says is wrong becomes an error of table files. */
export function asTableFile<T>(action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (!(cause instanceof MonolithError)) throw cause;
    const { file, record, field, reason } = cause.fields;
    if (cause.code === 'ML_FILE_READ') throw readError(String(file), cause.cause ?? cause);
    if (cause.code !== 'ML_RECORD') throw cause;
    throw corruptRecord({ file: String(file), record: Number(record) }, String(field), String(reason), cause);
  }
}
