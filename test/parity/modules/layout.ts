/** @file Cases of sharding and layouts (src/feature). */

import { orderFeatures } from '../../../src/feature/serving/feature-order.js';
import { fidColumnsOfExampleBatch } from '../../../src/feature/serving/fid-columns.js';
import {
  fusedEmbeddingToLayout,
  fusedEmbeddingToLayoutGradient,
} from '../../../src/feature/serving/fused-embedding-to-layout.js';
import { compileLayout } from '../../../src/feature/serving/layout-plan.js';
import { type ShardedFids, shardFidColumns } from '../../../src/feature/serving/sharding-sparse-fids.js';
import { FEATURE_LIST_TYPE, type FeatureConfigs, OUT_TYPE, POOLING_TYPE } from '../../../src/io/example-messages.js';
import type { MessageInput } from '../../../src/io/message.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { type Fields, fieldsOf, type ParityCase, type ParityHandlers, recordsOf, UnknownForm } from '../case.js';
import { ids, ones } from '../values.js';

interface FeatureCase {
  table: string;
  slice_dims: number[];
  pooling: keyof typeof POOLING_TYPE;
  max_seq?: number;
}
interface OutCase {
  type: keyof typeof OUT_TYPE;
  slices: { feature: string; start: number; end: number }[];
}

const featureOf = (given: unknown) =>
  fieldsOf(given, ['table', 'slice_dims', 'pooling'], ['max_seq']) as unknown as FeatureCase;

function configsOf(given: Fields): MessageInput<FeatureConfigs> {
  const features = given.feature_configs as Record<string, FeatureCase>;
  const outs = (given.out_configs ?? {}) as Record<string, OutCase>;
  return {
    featureConfigs: new Map(
      Object.entries(features).map(([name, given]) => {
        const { table, slice_dims, pooling, max_seq } = featureOf(given);
        return [
          name,
          { table, sliceDims: slice_dims, poolingType: POOLING_TYPE[pooling], maxSequenceLength: max_seq ?? 0 },
        ];
      }),
    ),
    outConfigs: new Map(
      Object.entries(outs).map(([name, given]) => {
        const { type, slices } = fieldsOf(given, ['type', 'slices']) as unknown as OutCase;
        const parts = recordsOf<OutCase['slices'][number]>(slices, ['feature', 'start', 'end']);
        return [
          name,
          {
            outType: OUT_TYPE[type],
            sliceConfigs: parts.map(({ feature, start, end }) => ({ featureName: feature, start, end })),
          },
        ];
      }),
    ),
  };
}

function shard(given: Fields): ShardedFids {
  const features = given.features as Record<string, { shared: boolean; fids: unknown[] }>;
  const order = orderFeatures(configsOf(given));
  const namedFeatureList = Object.entries(features).map(([name, { shared, fids }]) => ({
    name,
    id: 0,
    type: shared ? FEATURE_LIST_TYPE.SHARED : FEATURE_LIST_TYPE.INDIVIDUAL,
    feature: fids.map((sample) => ({ fidV2List: { value: ids(sample) } })),
  }));
  const batch = { namedFeatureList, namedRawFeatureList: [], batchSize: given.batch_size as number, dataSourceKey: 0 };
  return shardFidColumns(fidColumnsOfExampleBatch(batch, order), order, {
    psNum: given.ps_num as number,
    unique: given.unique as boolean,
  });
}

const SHARDING = ['feature_configs', 'batch_size', 'features', 'ps_num', 'unique'];

function sharding({ input }: ParityCase) {
  const given = fieldsOf(input, SHARDING);
  const sharded = shard(given);
  const order = orderFeatures(configsOf(given));
  return {
    feature_order: order.features.map(({ name }) => name),
    table_order: order.tables.map(({ name }) => name),
    nfl_offset: sharded.nflOffset,
    feature_offset: sharded.featureOffset,
    fid_offset: sharded.fidOffset,
    fid_list: sharded.fidList,
    row_splits: sharded.rowSplits,
    emb_size: sharded.embSize,
  };
}

/** Embeddings of the lists by the rule of the case: the only one known is `component j of fid x is x + j/4`. */
function embeddingsOf(given: Fields, sharded: ShardedFids): Float32Array[] {
  const rule = given.embedding_value ?? 'component j of fid x is x + j/4';
  if (rule !== 'component j of fid x is x + j/4') throw new UnknownForm(`embeddings: ${rule}`);
  const { tables } = orderFeatures(configsOf(given));
  const psNum = given.ps_num as number;
  return sharded.fidList.map((fids, l) => {
    const { features } = tables[Math.floor(l / psNum)]!;
    const splits = sharded.rowSplits[l]!;
    const values: number[] = [];
    features.forEach(({ dim }, f) => {
      for (const fid of fids.subarray(splits[f], splits[f + 1])) {
        for (let j = 0; j < dim; j++) values.push(Number(fid) + j / 4);
      }
    });
    return Float32Array.from(values);
  });
}

function layout({ input }: ParityCase) {
  const given = fieldsOf(input, [...SHARDING, 'out_configs'], ['embedding_value', 'layout_gradients']);
  const sharded = shard(given);
  const plan = compileLayout(configsOf(given), given.ps_num as number);
  const embeddings = { version: 3, embeddings: embeddingsOf(given, sharded) } as const;
  const outputs = fusedEmbeddingToLayout(plan, embeddings, sharded);
  const byName: Record<string, Tensor[]> = {};
  plan.outputs.forEach(({ layout }, i) => {
    byName[layout] = [...(byName[layout] ?? []), outputs[i]!];
  });
  const gradients = given.layout_gradients ?? 'ones';
  if (gradients !== 'ones') throw new UnknownForm(`gradients: ${gradients}`);
  const grads = outputs.map(({ shape }) => ones(shape));
  return {
    embeddings_list: embeddings.embeddings,
    layouts_in_name_order: byName,
    embedding_gradients: fusedEmbeddingToLayoutGradient(plan, embeddings, sharded, grads),
  };
}

export const handlers: ParityHandlers = { sharding_sparse_fids: sharding, fused_embedding_to_layout: layout };
