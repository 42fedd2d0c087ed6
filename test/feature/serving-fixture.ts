/**
 * @file The batch and configs that upstream's serving_ps_test builds: six features, shared and individual, v1 and v2
 * ids. Some of its shapes do not agree with what the layout op makes of them; it serves to build and send messages.
 */
import { MersenneTwister } from '../../src/base/random.js';
import {
  type ExampleBatch,
  FEATURE_LIST_TYPE,
  type Feature,
  type FeatureConfigs,
  OUT_TYPE,
  POOLING_TYPE,
} from '../../src/io/example-messages.js';
import type { MessageInput } from '../../src/io/message.js';
import { fidV1, fidV2 } from '../../src/sparse/config/fid.js';

export const SERVING_BATCH_SIZE = 10;

export interface ServingFeature {
  readonly slot: number;
  /** Ids per sample. */
  readonly maxSeq: number;
  readonly version: 'v1' | 'v2';
  readonly table: string;
  readonly pooling: keyof typeof POOLING_TYPE;
  readonly type: keyof typeof FEATURE_LIST_TYPE;
}

const feature = (
  slot: number,
  maxSeq: number,
  version: 'v1' | 'v2',
  table: string,
  pooling: ServingFeature['pooling'],
  type: ServingFeature['type'],
): ServingFeature => ({ slot, maxSeq, version, table, pooling, type });

export const SERVING_TABLES: Readonly<Record<string, readonly number[]>> = {
  table1: [1, 4, 4, 8],
  table2: [1, 4, 4],
  table3: [8],
};

export const SERVING_FEATURES: Readonly<Record<string, ServingFeature>> = {
  f_user_id: feature(1, 1, 'v1', 'table1', 'SUM', 'SHARED'),
  f_user_ctx_network: feature(61, 1, 'v1', 'table1', 'SUM', 'SHARED'),
  f_user_test10_array: feature(549, 10, 'v1', 'table1', 'MEAN', 'SHARED'),
  'f_user_id-f_page': feature(504, 10, 'v2', 'table3', 'FIRSTN', 'SHARED'),
  f_goods_id: feature(200, 1, 'v1', 'table2', 'SUM', 'INDIVIDUAL'),
  f_page: feature(305, 1, 'v1', 'table2', 'SUM', 'INDIVIDUAL'),
};

const USER = ['f_user_id', 'f_user_ctx_network', 'f_user_test10_array'];
const ITEM = ['f_goods_id', 'f_page'];

/** A batch with random ids of each feature's slot. */
export function generateExampleBatch(
  features: Readonly<Record<string, Pick<ServingFeature, 'slot' | 'maxSeq' | 'version' | 'type'>>> = SERVING_FEATURES,
  { batchSize = SERVING_BATCH_SIZE, seed = 1 }: { batchSize?: number; seed?: number } = {},
): ExampleBatch {
  const random = new MersenneTwister(seed);
  const signature = () => (BigInt(random.nextU32()) << 32n) | BigInt(random.nextU32());
  const sample = ({ slot, maxSeq, version }: Pick<ServingFeature, 'slot' | 'maxSeq' | 'version'>): Feature => {
    const pack = version === 'v1' ? fidV1 : fidV2;
    const list = { value: BigInt64Array.from({ length: maxSeq }, () => pack(slot, signature())) };
    return version === 'v1' ? { fidV1List: list } : { fidV2List: list };
  };
  return {
    namedFeatureList: Object.entries(features).map(([name, one]) => ({
      name,
      id: one.slot,
      type: FEATURE_LIST_TYPE[one.type],
      feature: Array.from({ length: one.type === 'SHARED' ? 1 : batchSize }, () => sample(one)),
    })),
    namedRawFeatureList: [],
    batchSize,
    dataSourceKey: 0,
  };
}

/** Feature and out configs of the fixture. */
export function generateFeatureConfigs(): MessageInput<FeatureConfigs> {
  const slices = (names: readonly string[], start: number, end: number) =>
    names.map((featureName) => ({ featureName, start, end }));
  const shapes = (count: number, dims: number[]) => Array.from({ length: count }, () => ({ dims }));
  const B = SERVING_BATCH_SIZE;
  return {
    featureConfigs: new Map(
      Object.entries(SERVING_FEATURES).map(([name, { table, pooling }]) => [
        name,
        { table, poolingType: POOLING_TYPE[pooling], sliceDims: [...SERVING_TABLES[table]!] },
      ]),
    ),
    outConfigs: new Map([
      ['bias', { sliceConfigs: slices([...USER, ...ITEM], 0, 1), outType: OUT_TYPE.CONCAT, shape: shapes(1, [B, 5]) }],
      ['vec', { sliceConfigs: slices([...USER, ...ITEM], 1, 5), outType: OUT_TYPE.CONCAT, shape: shapes(1, [B, 20]) }],
      ['uffm', { sliceConfigs: slices(USER, 5, 8), outType: OUT_TYPE.NONE, shape: shapes(3, [B, 4]) }],
      ['iffm', { sliceConfigs: slices(ITEM, 5, 8), outType: OUT_TYPE.NONE, shape: shapes(2, [B, 4]) }],
      [
        'seq',
        { sliceConfigs: slices(['f_user_id-f_page'], 0, 8), outType: OUT_TYPE.NONE, shape: shapes(1, [B, 8, 10]) },
      ],
      ['user_only', { sliceConfigs: slices(USER, 8, 16), outType: OUT_TYPE.STACK, shape: shapes(1, [B, 8, 3]) }],
    ]),
  };
}
