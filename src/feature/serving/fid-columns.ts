/**
 * @file The ids of a batch, feature by feature: what sharding works on, whatever form the batch came in.
 *
 * Ids of version 1 become version 2 on the way. Features nobody configured are left out.
 */
import { MonolithError } from '../../base/errors.js';
import { type Example, type ExampleBatch, FEATURE_LIST_TYPE, type Feature } from '../../io/example-messages.js';
import type { Instance } from '../../io/instance-messages.js';
import { convertFidsV1ToV2, slotOfFidV1 } from '../../sparse/config/fid.js';
import type { FeatureOrder } from './feature-order.js';

/** Ids of one feature: sample s has fids[splits[s] .. splits[s + 1]). A shared feature has one sample for the batch. */
export interface FidColumn {
  readonly shared: boolean;
  readonly fids: BigInt64Array;
  readonly splits: Int32Array;
}

export interface FidColumns {
  readonly batchSize: number;
  /** One per configured feature, in order. */
  readonly columns: readonly FidColumn[];
}

const NO_FIDS = new BigInt64Array(0);

/** The ids of one value of a feature, as version 2; lists of lists are taken one after the other. */
function fidsOf(feature: Feature | undefined): BigInt64Array {
  if (feature?.fidV2List !== undefined) return feature.fidV2List.value;
  if (feature?.fidV1List !== undefined) return convertFidsV1ToV2(feature.fidV1List.value);
  if (feature?.fidV2Lists !== undefined) return concat(feature.fidV2Lists.list.map(({ value }) => value));
  if (feature?.fidV1Lists !== undefined) {
    return convertFidsV1ToV2(concat(feature.fidV1Lists.list.map(({ value }) => value)));
  }
  return NO_FIDS;
}

function concat(parts: readonly BigInt64Array[]): BigInt64Array {
  const whole = new BigInt64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function columnOf(shared: boolean, samples: readonly BigInt64Array[]): FidColumn {
  const splits = new Int32Array(samples.length + 1);
  samples.forEach((sample, s) => {
    splits[s + 1] = splits[s]! + sample.length;
  });
  return { shared, fids: concat(samples), splits };
}

/** Columns of an example batch. A configured feature it does not have is a shared one without ids. */
export function fidColumnsOfExampleBatch(batch: ExampleBatch, order: FeatureOrder): FidColumns {
  const lists = new Map(batch.namedFeatureList.map((list) => [list.name, list]));
  const columns = order.features.map(({ name }) => {
    const list = lists.get(name);
    if (list === undefined) return columnOf(true, [NO_FIDS]);
    const shared = list.type === FEATURE_LIST_TYPE.SHARED;
    const expected = shared ? 1 : batch.batchSize;
    if (list.feature.length !== expected) {
      const reason = `feature ${name} has ${list.feature.length} samples, not ${expected}`;
      throw new MonolithError('ML_SHARDING', { reason });
    }
    return columnOf(shared, list.feature.map(fidsOf));
  });
  return { batchSize: batch.batchSize, columns };
}

/** Columns of examples row by row. An example without a feature has an empty sample of it. */
export function fidColumnsOfExamples(examples: readonly Example[], order: FeatureOrder): FidColumns {
  return columnsOfRows(
    examples.map((example) => new Map(example.namedFeature.map(({ name, feature }) => [name, fidsOf(feature)]))),
    order,
  );
}

/** Columns of instances: ids of version 1 go by their slot to `fc_slot_<slot>` or `slot_<slot>`, the others by name. */
export function fidColumnsOfInstances(instances: readonly Instance[], order: FeatureOrder): FidColumns {
  return columnsOfRows(
    instances.map((instance) => {
      const lists = new Map<string, bigint[]>();
      const add = (name: string, fid: bigint) => {
        const list = lists.get(name);
        if (list === undefined) lists.set(name, [fid]);
        else list.push(fid);
      };
      const converted = convertFidsV1ToV2(instance.fid);
      instance.fid.forEach((fid, i) => {
        const slot = slotOfFidV1(fid);
        add(order.byName.has(`fc_slot_${slot}`) ? `fc_slot_${slot}` : `slot_${slot}`, converted[i]!);
      });
      for (const { name = '', fid, fidList } of instance.feature) {
        for (const one of fid) add(name, one);
        for (const { value } of fidList) for (const one of value) add(name, one);
      }
      return new Map([...lists].map(([name, list]) => [name, BigInt64Array.from(list)]));
    }),
    order,
  );
}

function columnsOfRows(rows: readonly ReadonlyMap<string, BigInt64Array>[], order: FeatureOrder): FidColumns {
  const columns = order.features.map(({ name }) =>
    columnOf(
      false,
      rows.map((row) => row.get(name) ?? NO_FIDS),
    ),
  );
  return { batchSize: rows.length, columns };
}
