/** @file Values for the rows of a request, with errors in the words of who asked. */
import { MonolithError } from '../../base/errors.js';
import type { AskedRows } from './asked-rows.js';
import { refusal } from './refusal.js';
import type { ServedVersion } from './served-version.js';

/** Values of each head; a cell that does not fit is 400 with its place in the request. */
export async function scoreRows(
  version: ServedVersion,
  { rows, place }: AskedRows,
  signal: AbortSignal,
): Promise<Float32Array[]> {
  try {
    return await version.score(rows, signal);
  } catch (error) {
    if (!(error instanceof MonolithError) || error.code !== 'ML_DATA' || error.fields.row === undefined) throw error;
    const { hint, fields } = error;
    throw refusal(400, `${place}[${fields.row}].${fields.column}: ${fields.reason}`, { hint, cause: error });
  }
}
