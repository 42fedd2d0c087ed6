/** @file The examples of a batch of examples: each has its own values of a feature, or shares one with all. */
import { MonolithError } from '../../base/errors.js';
import { type Example, type ExampleBatch, FEATURE_LIST_TYPE, type Feature } from '../../io/example-messages.js';
import { LINE_ID } from '../../io/instance-messages.js';

/** Features that are no features: the line id, labels, the weight. */
const RESERVED = { lineId: '__LINE_ID__', label: '__LABEL__', weight: 'instance_weight' } as const;
const NO_LABELS = new Float32Array(0);

/** ML_DATASET for a list that has no value for some of the examples. */
export function expandBatch({ namedFeatureList, batchSize, dataSourceKey }: ExampleBatch): Example[] {
  for (const { name, feature, type } of namedFeatureList) {
    const wanted = type === FEATURE_LIST_TYPE.SHARED ? 1 : batchSize;
    if (feature.length === wanted || (type === FEATURE_LIST_TYPE.SHARED && feature.length > 0)) continue;
    const reason = `feature list ${name} has ${feature.length} values for ${batchSize} examples`;
    throw new MonolithError('ML_DATASET', { reason });
  }
  return Array.from({ length: batchSize }, (_, index) => {
    const example: Example = {
      namedFeature: [],
      namedRawFeature: [],
      label: NO_LABELS,
      instanceWeight: 1,
      dataSourceKey,
    };
    for (const { name, feature, type, id } of namedFeatureList) {
      const value = feature[type === FEATURE_LIST_TYPE.SHARED ? 0 : index]!;
      if (!takeReserved(example, name, value)) example.namedFeature.push({ name, feature: value, id, sortedId: 0 });
    }
    return example;
  });
}

function takeReserved(example: Example, name: string, { bytesList, floatList }: Feature): boolean {
  switch (name) {
    case RESERVED.lineId: {
      const [first] = bytesList?.value ?? [];
      if (first !== undefined) example.lineId = LINE_ID.decode(first);
      return true;
    }
    case RESERVED.label:
      example.label = floatList?.value ?? NO_LABELS;
      return true;
    case RESERVED.weight:
      example.instanceWeight = floatList?.value[0] ?? 1;
      return true;
    default:
      return false;
  }
}
