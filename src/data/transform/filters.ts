/** @file Filters by the ids, the actions and the labels of an example. */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import { LINE_ID_COLUMNS } from '../files/line-id-columns.js';
import type { DataRow } from '../files/place.js';
import type { Transform } from './row-transform.js';

type Ids = Iterable<bigint | number>;

export interface FidFilter {
  /** Examples with any of these are kept. */
  readonly hasFids?: Ids;
  /** Examples with any of these are left out. */
  readonly filterFids?: Ids;
  /** Examples with all of these are kept. */
  readonly selectFids?: Ids;
}

/** By ids, in any column of ids. What is not said keeps all. */
export function filterByFid(given: FidFilter): Transform {
  const options = checkOptions('FilterByFidConfig', given, ['hasFids', 'filterFids', 'selectFids']);
  const [has, without, select] = [setOf(options.hasFids), setOf(options.filterFids), setOf(options.selectFids)];
  return (row) => {
    let isThere = has.size === 0;
    const selected = new Set<bigint>();
    for (const [name, cell] of Object.entries(row)) {
      if (!(cell instanceof BigInt64Array) || NO_FIDS.has(name)) continue;
      for (const id of cell) {
        if (without.has(id)) return undefined;
        isThere ||= has.has(id);
        if (select.has(id)) selected.add(id);
      }
    }
    return isThere && selected.size === select.size ? row : undefined;
  };
}

/** Columns of the line id. */
const NO_FIDS = new Set(['uid', 'item_id', 'req_time', 'chnid']);

const setOf = (ids: Ids = []): Set<bigint> => new Set(Array.from(ids, (id) => BigInt.asIntN(64, BigInt(id))));

/** Examples whose line id has any of these actions. */
export function filterByAction(hasActions: readonly number[]): Transform {
  const wanted = new Set(hasActions);
  return (row) => (actionsOf(row).some((action) => wanted.has(action)) ? row : undefined);
}

/** The actions of an example; ML_COLUMN for a row that has no such column. */
export function actionsOf(row: DataRow): readonly number[] {
  const cell = cellNamed(row, 'actions');
  if (cell === undefined || cell === null || cell === '') return [];
  if (typeof cell === 'string') return cell.split(',').map(Number);
  return typeof cell === 'object' ? Array.from(cell as ArrayLike<number | bigint>, Number) : [Number(cell)];
}

/**
 * A cell by the name of its column; ML_COLUMN, with the nearest name, for a row that has none. Examples have columns of
 * their line id where it says something.
 */
export function cellNamed(row: DataRow, name: string): unknown {
  if (name in row || ('data_source_key' in row && LINE_ID_COLUMNS.has(name))) return row[name];
  const columns = Object.keys(row);
  const hint = didYouMean(name, columns);
  const fields = { source: 'the row', column: name, columns: columns.join(', ') };
  throw new MonolithError('ML_COLUMN', fields, hint === undefined ? {} : { hint });
}

/** Examples of which some label is at least its threshold. */
export function filterByLabel(thresholds: readonly number[]): Transform {
  if (thresholds.length === 0) {
    const reason = 'thresholds: there is one for each label';
    throw new MonolithError('ML_OPTION', { where: 'FilterByLabelConfig', option: 'thresholds', reason });
  }
  return (row) => {
    const labels = labelsOf(row);
    if (labels.length < thresholds.length) {
      const reason = `Label size(=${labels.length}) should be >= label_threshold size(=${thresholds.length})`;
      throw new MonolithError('ML_DATASET', { reason });
    }
    return thresholds.some((threshold, at) => labels[at]! >= threshold) ? row : undefined;
  };
}

function labelsOf(row: DataRow): readonly number[] {
  const cell = cellNamed(row, 'label');
  if (cell === undefined || cell === null || cell === '') return [];
  return typeof cell === 'object' ? Array.from(cell as ArrayLike<number>, Number) : [Number(cell)];
}
