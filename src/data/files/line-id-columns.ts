/** @file The line id of an example as columns, by the names that configs have for its fields. */
import type { LineId } from '../../io/instance-messages.js';

/** In every row of an example that has a line id. */
const ALWAYS = [
  ['uid', 'uid'],
  ['item_id', 'itemId'],
  ['req_time', 'reqTime'],
  ['actions', 'actions'],
] as const satisfies readonly (readonly [string, keyof LineId])[];
/** In those whose line id says something of it. */
const OTHERS = [
  ['chnid', 'chnid'],
  ['pre_actions', 'preActions'],
  ['sample_rate', 'sampleRate'],
  ['special_strategies', 'specialStrategies'],
  ['device_type', 'deviceType'],
  ['cid', 'cid'],
  ['user_id', 'userId'],
  ['is_draw', 'isDraw'],
  ['rank', 'rank'],
  ['data_source_name', 'dataSourceName'],
] as const satisfies readonly (readonly [string, keyof LineId])[];

export const LINE_ID_COLUMNS: ReadonlySet<string> = new Set([...ALWAYS, ...OTHERS].map(([name]) => name));

export function lineIdCells(lineId: LineId): Record<string, unknown> {
  const cells: Record<string, unknown> = {};
  for (const [name, key] of ALWAYS) cells[name] = lineId[key];
  for (const [name, key] of OTHERS) {
    const value = lineId[key];
    if (value !== undefined && !(Array.isArray(value) && value.length === 0)) cells[name] = value;
  }
  return cells;
}
