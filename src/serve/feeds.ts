/** @file What a trained model is fed to predict, in the order of its features. */
import { weightsOf } from '../data/schema.js';
import type { PortableFeature } from '../portable/portable-schema.js';
import type { Feed } from './standard/standard-graph.js';

/** A feed for each feature, and one for the weights of ids that have them. */
export function feedsOf(features: readonly PortableFeature[]): Feed[] {
  return features.flatMap((feature): Feed[] => {
    const { name, kind } = feature;
    if (kind !== 'ragged') return [{ name, kind, width: feature.width }];
    const ids: Feed = { name, kind, width: 0 };
    return feature.weighted ? [ids, { name: weightsOf(name), kind: 'dense', width: feature.valuesPerRow }] : [ids];
  });
}
