/** @file Rows of the small shop as other systems are fed them: plain arrays by feature. */
import { encodeRows } from '../../../src/data/encode-rows.js';
import { TF_EXAMPLE, type TfFeature } from '../../../src/io/tf-example.js';
import { type Purchase, schema } from '../shops.js';

export interface PlainFeeds {
  readonly dense: Readonly<Record<string, Float32Array>>;
  readonly ids: Readonly<Record<string, BigInt64Array>>;
  readonly ragged: Readonly<Record<string, bigint[][]>>;
}

export function encodedPurchases(rows: readonly Purchase[]): PlainFeeds {
  const { feeds } = encodeRows(schema, rows, { labels: false });
  const { user, item, tags, price } = feeds as unknown as {
    readonly user: BigInt64Array;
    readonly item: BigInt64Array;
    readonly price: Float32Array;
    readonly tags: { readonly splits: Int32Array; readonly values: BigInt64Array };
  };
  const lists = rows.map((_, row) => [...tags.values.subarray(tags.splits[row], tags.splits[row + 1])]);
  return { dense: { price }, ids: { user, item }, ragged: { tags: lists } };
}

/** The rows as records of tensorflow.Example. */
export function purchaseRecords(rows: readonly Purchase[]): Uint8Array[] {
  const { dense, ids, ragged } = encodedPurchases(rows);
  return rows.map((_, row) => {
    const int64 = (value: BigInt64Array): TfFeature => ({ int64List: { value } });
    const feature = new Map<string, TfFeature>([
      ['price', { floatList: { value: dense.price!.slice(row, row + 1) } }],
      ['user', int64(ids.user!.slice(row, row + 1))],
      ['item', int64(ids.item!.slice(row, row + 1))],
      ['tags', int64(BigInt64Array.from(ragged.tags![row]!))],
    ]);
    return TF_EXAMPLE.encode({ features: { feature } });
  });
}
