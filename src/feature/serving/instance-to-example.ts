/**
 * @file An instance, the older form of training data, as an example.
 *
 * Features are numbered from 0: `value` when there are any, one `fc_slot_<slot>` per slot of the version 1 ids in order
 * of first appearance, then the feature columns under their own names.
 */
import type { Example, Feature } from '../../io/example-messages.js';
import type { Instance, InstanceFeature } from '../../io/instance-messages.js';
import { slotOfFidV1 } from '../../sparse/config/fid.js';

/** The example with the features, labels and line id of an instance. */
export function exampleOfInstance(instance: Instance): Example {
  const named: [string, Feature][] = [];
  if (instance.value.length > 0) named.push(['value', { floatList: { value: instance.value } }]);
  const slots = new Map<number, bigint[]>();
  for (const fid of instance.fid) {
    const slot = slotOfFidV1(fid);
    const list = slots.get(slot);
    if (list === undefined) slots.set(slot, [fid]);
    else list.push(fid);
  }
  for (const [slot, fids] of slots) named.push([`fc_slot_${slot}`, { fidV1List: { value: BigInt64Array.from(fids) } }]);
  for (const column of instance.feature) named.push([column.name ?? '', featureOfColumn(column)]);
  return {
    namedFeature: named.map(([name, feature], id) => ({ name, feature, id, sortedId: 0 })),
    namedRawFeature: [],
    ...(instance.lineId === undefined ? {} : { lineId: instance.lineId }),
    label: instance.label,
    instanceWeight: instance.instanceWeight ?? 1,
    dataSourceKey: instance.dataSourceKey ?? 0,
  };
}

/** The first group of values that is not empty; a feature without a member when all are. */
function featureOfColumn(column: InstanceFeature): Feature {
  const { fid, floatValue, int64Value, bytesValue, fidList, floatList, int64List, bytesList } = column;
  if (fid.length > 0) return { fidV2List: { value: fid } };
  if (floatValue.length > 0) return { floatList: { value: floatValue } };
  if (int64Value.length > 0) return { int64List: { value: int64Value } };
  if (bytesValue.length > 0) return { bytesList: { value: bytesValue } };
  if (fidList.length > 0) return { fidV2Lists: { list: fidList } };
  if (floatList.length > 0) return { floatLists: { list: floatList } };
  if (int64List.length > 0) return { int64Lists: { list: int64List } };
  if (bytesList.length > 0) return { bytesLists: { list: bytesList } };
  return {};
}
