/**
 * @file Distributes the ids of a batch over tables and servers, and notes where each embedding will be.
 *
 * Mirrors sharding_sparse_fids. The (table, server) list of ids concatenates the lists of the table's features; an
 * entry of fid_offset names a list (high word) and a place in it (low word). What the place counts depends on the
 * version: rows of the feature (2), rows of the list (1), floats of the list (3, 4, 5).
 *
 * | nfl_offset, per feature + tail | feature_offset, per sample + tail | fid_offset, per id |
 * |---|---|---|
 * | bit 31 shared, else first sample | first id | list << 32, place |
 */
import { MonolithError } from '../../base/errors.js';
import { EXAMPLE, EXAMPLE_BATCH, type FeatureConfigs } from '../../io/example-messages.js';
import { INSTANCE } from '../../io/instance-messages.js';
import type { MessageInput } from '../../io/message.js';
import { type FeatureOrder, type OrderedFeature, orderFeatures } from './feature-order.js';
import {
  type FidColumns,
  fidColumnsOfExampleBatch,
  fidColumnsOfExamples,
  fidColumnsOfInstances,
} from './fid-columns.js';
import { PLAIN_SHARDING, type ShardingBackend } from './sharding-backend.js';

export type ShardingVersion = 1 | 2 | 3 | 4 | 5;
/** Bit of nfl_offset that marks a feature with one sample for all rows. */
export const SHARED_FLAG = 0x80000000;

export interface ShardingOptions {
  readonly psNum: number;
  /** Each (feature, server) list keeps distinct ids, in first-seen order. */
  readonly unique?: boolean;
  readonly version?: ShardingVersion;
  /** Where arrays come from and how ids are distributed: plain, or by kernels in shared memory. Default: plain. */
  readonly backend?: ShardingBackend;
}

export interface ShardedFids {
  readonly version: ShardingVersion;
  readonly batchSize: number;
  readonly nflOffset: Uint32Array;
  readonly featureOffset: Int32Array;
  readonly fidOffset: BigUint64Array;
  /** Ids per (table, server): list table * psNum + server. */
  readonly fidList: readonly BigInt64Array[];
  /** Cumulative ids per feature of the table, for each list. */
  readonly rowSplits: readonly Int32Array[];
  /** Floats of each list. */
  readonly embSize: Int32Array;
  readonly merged?: MergedFids;
  /** Lengths of one request, for joining several (version 5). */
  readonly sizes?: RequestSizes;
}

/** All lists as one, server by server (version 4). */
export interface MergedFids {
  readonly fids: BigInt64Array;
  /** Ids and floats per (server, table). */
  readonly tableSizes: Int32Array;
  readonly tableEmbSizes: Int32Array;
  /** Ids and floats per server. */
  readonly shardSizes: Int32Array;
  readonly shardEmbSizes: Int32Array;
}

export interface RequestSizes {
  readonly batchSize: number;
  readonly nflSize: number;
  readonly featureSize: number;
  readonly fidSize: number;
}

export type ShardingInputType = 'example' | 'examplebatch' | 'instance';

/** Shards serialized messages: an `examplebatch` is one message, the others one per row. */
export function shardingSparseFids(
  messages: readonly Uint8Array[],
  inputType: ShardingInputType,
  featureConfigs: MessageInput<FeatureConfigs>,
  options: ShardingOptions,
): ShardedFids {
  const order = orderFeatures(featureConfigs);
  return shardFidColumns(columnsOf(messages, inputType, order), order, options);
}

function columnsOf(messages: readonly Uint8Array[], inputType: ShardingInputType, order: FeatureOrder): FidColumns {
  switch (inputType) {
    case 'example':
      return fidColumnsOfExamples(
        messages.map((bytes) => EXAMPLE.decode(bytes)),
        order,
      );
    case 'instance':
      return fidColumnsOfInstances(
        messages.map((bytes) => INSTANCE.decode(bytes)),
        order,
      );
    case 'examplebatch': {
      const [first, ...more] = messages;
      if (first === undefined || more.length > 0) {
        throw new MonolithError('ML_SHARDING', { reason: `${messages.length} example batches were given, not one` });
      }
      return fidColumnsOfExampleBatch(EXAMPLE_BATCH.decode(first), order);
    }
    default:
      inputType satisfies never;
      throw new MonolithError('ML_INPUT_TYPE');
  }
}

/** Shards ids that were taken out of their messages. */
export function shardFidColumns(
  { batchSize, columns }: FidColumns,
  order: FeatureOrder,
  { psNum, unique = true, version = 3, backend = PLAIN_SHARDING }: ShardingOptions,
): ShardedFids {
  if (!Number.isInteger(psNum) || psNum < 1) {
    throw new MonolithError('ML_SHARDING', { reason: `there are ${psNum} servers` });
  }
  const assigned = columns.map(({ fids }) => backend.assign(fids, psNum, unique));
  const counts = assigned.map((one) => one.counts);
  const lists = order.tables.flatMap((table) =>
    Array.from({ length: psNum }, (_, server) => listShape(table.features, counts, server)),
  );
  const fidList = lists.map(({ splits }) => backend.ids(splits.at(-1)!));
  const fidCount = columns.reduce((sum, { fids }) => sum + fids.length, 0);
  const fidOffset = backend.offsets(fidCount);
  const places = version === 2 ? runningIndexes(order, psNum) : undefined;
  let from = 0;
  for (const feature of order.features) {
    const { tableIndex, indexInTable, dim, index } = feature;
    const high = new Uint32Array(psNum);
    const low = new Uint32Array(psNum);
    const targets = Array.from({ length: psNum }, (_, server) => {
      const list = tableIndex * psNum + server;
      const { splits, floats } = lists[list]!;
      high[server] = places === undefined ? list : places(feature, server);
      low[server] = version === 2 ? 0 : version === 1 ? splits[indexInTable]! : floats[indexInTable]!;
      return fidList[list]!.subarray(splits[indexInTable], splits[indexInTable + 1]);
    });
    const to = from + columns[index]!.fids.length;
    assigned[index]!.write({
      high,
      low,
      scale: version <= 2 ? 1 : dim,
      targets,
      offsets: fidOffset.subarray(from, to),
    });
    from = to;
  }
  const sharded = {
    version,
    batchSize,
    ...sampleOffsets(columns, backend),
    fidOffset,
    fidList,
    rowSplits: lists.map(({ splits }) => splits),
    embSize: Int32Array.from(lists, ({ floats }) => floats.at(-1)!),
  };
  return version === 4
    ? { ...sharded, merged: mergeLists(sharded, order.tables.length, psNum, backend) }
    : version === 5
      ? { ...sharded, sizes: sizesOf(sharded) }
      : sharded;
}

/** Rows and floats of one (table, server) list before each of its features, and at its end. */
function listShape(features: readonly OrderedFeature[], counts: readonly Int32Array[], server: number) {
  const splits = new Int32Array(features.length + 1);
  const floats = new Int32Array(features.length + 1);
  features.forEach(({ index, dim }, i) => {
    const count = counts[index]![server]!;
    splits[i + 1] = splits[i]! + count;
    floats[i + 1] = floats[i]! + count * dim;
  });
  return { splits, floats };
}

/** Version 2 numbers a list per feature: by table, then server, then feature of the table. */
function runningIndexes(order: FeatureOrder, psNum: number): (feature: OrderedFeature, server: number) => number {
  const starts: number[] = [];
  let next = 0;
  for (const { features } of order.tables) {
    starts.push(next);
    next += features.length * psNum;
  }
  return ({ tableIndex, indexInTable }, server) =>
    starts[tableIndex]! + server * order.tables[tableIndex]!.features.length + indexInTable;
}

function sampleOffsets(columns: FidColumns['columns'], backend: ShardingBackend) {
  const samples = columns.reduce((sum, { splits }) => sum + splits.length - 1, 0);
  const nflOffset = backend.words(columns.length + 1);
  const featureOffset = backend.samples(samples + 1);
  let sample = 0;
  let fid = 0;
  columns.forEach(({ shared, fids, splits }, f) => {
    nflOffset[f] = shared ? sample + SHARED_FLAG : sample;
    for (let s = 0; s + 1 < splits.length; s++) featureOffset[sample++] = fid + splits[s]!;
    fid += fids.length;
  });
  featureOffset[samples] = fid;
  // The length of feature_offset, not the number of samples: readers size their spans by it.
  nflOffset[columns.length] = samples + 1;
  return { nflOffset, featureOffset };
}

function mergeLists(
  { fidList, embSize }: Pick<ShardedFids, 'fidList' | 'embSize'>,
  tableCount: number,
  psNum: number,
  backend: ShardingBackend,
): MergedFids {
  const order = Array.from(
    { length: psNum * tableCount },
    (_, i) => (i % tableCount) * psNum + Math.floor(i / tableCount),
  );
  const tableSizes = Int32Array.from(order, (list) => fidList[list]!.length);
  const tableEmbSizes = Int32Array.from(order, (list) => embSize[list]!);
  const fids = backend.ids(tableSizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (const list of order) {
    fids.set(fidList[list]!, at);
    at += fidList[list]!.length;
  }
  const perServer = (sizes: Int32Array) =>
    Int32Array.from({ length: psNum }, (_, server) =>
      sizes.subarray(server * tableCount, (server + 1) * tableCount).reduce((sum, size) => sum + size, 0),
    );
  return {
    fids,
    tableSizes,
    tableEmbSizes,
    shardSizes: perServer(tableSizes),
    shardEmbSizes: perServer(tableEmbSizes),
  };
}

function sizesOf(sharded: Pick<ShardedFids, 'batchSize' | 'nflOffset' | 'featureOffset' | 'fidOffset'>): RequestSizes {
  return {
    batchSize: sharded.batchSize,
    nflSize: sharded.nflOffset.length,
    featureSize: sharded.featureOffset.length,
    fidSize: sharded.fidOffset.length,
  };
}
