/** @file Random feature configs, batches and embeddings for the tests of sharding and layouts. */
import fc from 'fast-check';
import { type FeatureOrder, orderFeatures } from '../../src/feature/serving/feature-order.js';
import type { FidColumns } from '../../src/feature/serving/fid-columns.js';
import type { LayoutEmbeddings } from '../../src/feature/serving/layout-inputs.js';
import type { ShardedFids } from '../../src/feature/serving/sharding-sparse-fids.js';
import { type FeatureConfigs, OUT_TYPE, POOLING_TYPE } from '../../src/io/example-messages.js';
import type { MessageInput } from '../../src/io/message.js';

export interface RandomBatch {
  readonly configs: MessageInput<FeatureConfigs>;
  readonly order: FeatureOrder;
  readonly columns: FidColumns;
  readonly psNum: number;
}

const MAX_SEQ = 3;
const SLICES = [2, 5, 1];

/** Names whose order is not the order they are declared in. */
const NAMES = ['fb', 'fa', 'zz', 'Fx', 'f10', 'f2'];

const slice = (featureName: string, start: number, end: number) => ({ featureName, start, end });

/** All out types over whatever features there are. Rows of a feature are 2 + 5 + 1 wide. */
function outConfigs(
  pooled: readonly string[],
  sequences: readonly string[],
): MessageInput<FeatureConfigs>['outConfigs'] {
  const outs = new Map<
    string,
    NonNullable<MessageInput<FeatureConfigs>['outConfigs']> extends ReadonlyMap<string, infer V> ? V : never
  >();
  if (pooled.length > 0) {
    const wide = pooled.map((name) => slice(name, 2, 7));
    outs.set('sum', { outType: OUT_TYPE.ADDN, sliceConfigs: pooled.map((name) => slice(name, 7, 8)) });
    outs.set('all', { outType: OUT_TYPE.CONCAT, sliceConfigs: [...wide, ...pooled.map((name) => slice(name, 0, 8))] });
    outs.set('planes', { outType: OUT_TYPE.STACK, sliceConfigs: wide });
    outs.set('each', {
      outType: OUT_TYPE.NONE,
      sliceConfigs: [...wide, ...sequences.map((name) => slice(name, 1, 5))],
    });
  }
  if (sequences.length > 0) {
    outs.set('seqConcat', {
      outType: OUT_TYPE.CONCAT,
      sliceConfigs: sequences.flatMap((n) => [slice(n, 0, 2), slice(n, 2, 7)]),
    });
    outs.set('seqStack', { outType: OUT_TYPE.STACK, sliceConfigs: sequences.map((name) => slice(name, 3, 8)) });
  }
  return outs;
}

const feature = fc.record({
  table: fc.constantFrom('t1', 'T2'),
  pooling: fc.constantFrom(POOLING_TYPE.SUM, POOLING_TYPE.MEAN, POOLING_TYPE.FIRSTN),
  shared: fc.boolean(),
  samples: fc.array(fc.array(fc.bigInt({ min: -6n, max: 9n }), { maxLength: 5 }), { minLength: 4, maxLength: 4 }),
});

export const randomBatch: fc.Arbitrary<RandomBatch> = fc
  .record({
    features: fc.array(feature, { minLength: 1, maxLength: NAMES.length }),
    batchSize: fc.integer({ min: 1, max: 4 }),
    psNum: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ features, batchSize, psNum }) => {
    const named = features.map((one, i) => ({ ...one, name: NAMES[i]! }));
    const of = (sequence: boolean) =>
      named.filter(({ pooling }) => (pooling === POOLING_TYPE.FIRSTN) === sequence).map(({ name }) => name);
    const configs = {
      featureConfigs: new Map(
        named.map(({ name, table, pooling }) => [
          name,
          {
            table,
            poolingType: pooling,
            sliceDims: SLICES,
            maxSequenceLength: pooling === POOLING_TYPE.FIRSTN ? MAX_SEQ : 0,
          },
        ]),
      ),
      outConfigs: outConfigs(of(false), of(true))!,
    };
    const order = orderFeatures(configs);
    const columns = order.features.map(({ name }) => {
      const { shared, samples } = named.find((one) => one.name === name)!;
      const used = samples.slice(0, shared ? 1 : batchSize);
      const splits = Int32Array.from([0, ...used.map((sample, s) => used.slice(0, s).flat().length + sample.length)]);
      return { shared, fids: BigInt64Array.from(used.flat()), splits };
    });
    return { configs, order, columns: { batchSize, columns }, psNum };
  });

/** Component c of the row of an id: a small whole number, so sums are exact. */
export const component = (table: number, fid: bigint, c: number): number => ((Number(fid) * 5 + c * 3 + table) % 7) + 1;

/** The embeddings a lookup would give for the lists of `sharded`, in the form of its version. */
export function embeddingsFor({ order, psNum }: RandomBatch, sharded: ShardedFids): LayoutEmbeddings {
  const vectors = sharded.fidList.map((fids, list) => {
    const table = Math.floor(list / psNum);
    const dim = order.tables[table]!.features[0]!.dim;
    return Float32Array.from({ length: fids.length * dim }, (_, i) =>
      component(table, fids[Math.floor(i / dim)]!, i % dim),
    );
  });
  switch (sharded.version) {
    case 1:
      return { version: 1, embeddings: vectors, dims: vectors.map(() => order.features[0]!.dim) };
    case 2:
      return { version: 2, embeddings: vectors, rowSplits: sharded.rowSplits };
    case 4: {
      const tables = order.tables.length;
      const ordered = vectors.map((_, i) => vectors[(i % tables) * psNum + Math.floor(i / tables)]!);
      return {
        version: 4,
        embeddings: [Float32Array.from(ordered.flatMap((vector) => [...vector]))],
        segmentSizes: sharded.merged!.tableEmbSizes,
      };
    }
    case 5:
      return { version: 5, embeddings: vectors, embSize: sharded.embSize, requests: [sharded.sizes!] };
    default:
      return { version: 3, embeddings: vectors };
  }
}
