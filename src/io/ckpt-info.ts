/**
 * @file `ckpt.info-<step>`: how many rows a checkpoint has by slot, or by table, as protobuf text (hooks/ckpt_info).
 */
import { quotePbtxt } from './pbtxt.js';

/** monolith.native_training.CkptInfo. */
export interface CkptInfo {
  readonly slotCounts?: ReadonlyMap<number, number>;
  readonly featureCounts?: ReadonlyMap<string, number>;
}

/** The text of a `ckpt.info-<step>` file, in the order of keys. */
export function formatCkptInfo({ slotCounts = new Map(), featureCounts = new Map() }: CkptInfo): string {
  const slots = [...slotCounts].sort(([a], [b]) => a - b).map(([slot, rows]) => entry('slot_counts', slot, rows));
  const features = [...featureCounts].sort(([a], [b]) => (a < b ? -1 : 1));
  return [...slots, ...features.map(([name, rows]) => entry('feature_counts', quotePbtxt(name), rows))].join('');
}

const entry = (field: string, key: number | string, value: number) => {
  return `${field} {\n  key: ${key}\n  value: ${value}\n}\n`;
};
