/**
 * @file Feature configs brought into the order everything else counts by: features, tables and layouts by name.
 *
 * Sharding numbers its lists and the layout op its inputs by these positions, so both take them from here.
 */
import { MonolithError } from '../../base/errors.js';
import type { FeatureConfig, FeatureConfigs } from '../../io/example-messages.js';
import type { MessageInput } from '../../io/message.js';

export interface OrderedFeature {
  readonly name: string;
  readonly index: number;
  /** Position of its table among all tables, and its own among the features of that table. */
  readonly tableIndex: number;
  readonly indexInTable: number;
  /** Width of its rows: all slices together. */
  readonly dim: number;
  readonly poolingType: number;
  readonly maxSequenceLength: number;
}

export interface OrderedTable {
  readonly name: string;
  /** Features of the table, in order. */
  readonly features: readonly OrderedFeature[];
}

export interface FeatureOrder {
  readonly features: readonly OrderedFeature[];
  readonly tables: readonly OrderedTable[];
  readonly byName: ReadonlyMap<string, OrderedFeature>;
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0;

/** Features sorted by name, with the tables they are in. */
export function orderFeatures(configs: MessageInput<FeatureConfigs>): FeatureOrder {
  const entries = [...(configs.featureConfigs ?? new Map<string, MessageInput<FeatureConfig>>())].sort(byName);
  const names = [...new Set(entries.map(([name, config]) => tableOf(name, config)))].sort();
  const tables = names.map((name) => ({ name, features: [] as OrderedFeature[] }));
  const features = entries.map(([name, config], index) => {
    const tableIndex = names.indexOf(config.table!);
    const members = tables[tableIndex]!.features;
    const one: OrderedFeature = {
      name,
      index,
      tableIndex,
      indexInTable: members.length,
      dim: dimOf(name, config.sliceDims ?? []),
      poolingType: config.poolingType ?? 0,
      maxSequenceLength: config.maxSequenceLength ?? 0,
    };
    members.push(one);
    return one;
  });
  return { features, tables, byName: new Map(features.map((one) => [one.name, one])) };
}

function tableOf(name: string, config: MessageInput<FeatureConfig>): string {
  if (!config.table) throw new MonolithError('ML_SHARDING', { reason: `feature ${name} has no table` });
  return config.table;
}

function dimOf(name: string, sliceDims: readonly number[]): number {
  const whole = sliceDims.every((dim) => Number.isInteger(dim) && dim > 0);
  if (!whole || sliceDims.length === 0) {
    throw new MonolithError('ML_SHARDING', { reason: `feature ${name} has slices of [${sliceDims}]` });
  }
  return sliceDims.reduce((sum, dim) => sum + dim, 0);
}
