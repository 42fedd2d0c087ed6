/** @file Holds a model to what a file of one protobuf message can have. */
import { MonolithError } from '../../base/errors.js';
import { rowDim } from '../../portable/portable-tables.js';
import type { ExportableModel } from '../trained-model.js';
import { countOf } from './standard-graph.js';

/** A message of protobuf ends at 2 GiB; what is written is held twice while it is made. */
const BYTES_MAX = 1.5 * 2 ** 30;

/** ML_EXPORT for a model whose weights have no room in a file of the format. */
export function checkSize(what: string, { tables, written }: Pick<ExportableModel, 'tables' | 'written'>): void {
  const rows = tables.reduce((sum, table) => sum + table.count * (24 + 4 * rowDim(table)), 0);
  const arrays = [...written.variables, ...written.constants];
  const weights = arrays.reduce((sum, { attrs }) => sum + 4 * countOf(attrs.shape), 0);
  if (rows + weights <= BYTES_MAX) return;
  const reason = `its weights have ${rows + weights} bytes, and a file of this format has at most ${BYTES_MAX}`;
  const hint = 'the format native has no such limit; minCount and expireDays keep tables small';
  throw new MonolithError('ML_EXPORT', { what, reason }, { hint });
}
