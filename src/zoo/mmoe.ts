/** @file Mixture of experts with a gate for each task: several labels predicted by one model. */
import type { Features, LabelName, Schema } from '../data/schema.js';
import type { Tensor } from '../graph/graph.js';
import { mlp } from '../layers/mlp-layer.js';
import { mmoe as experts } from '../layers/mmoe-layer.js';
import type { Model } from '../train/model.js';
import { besides, DEEP, type DeepOptions, DIM, HIDDEN, optionError, zooModel } from './zoo-model.js';

export interface MmoeModelOptions<F extends Features = Features> extends Omit<DeepOptions<F>, 'label'> {
  /** The labels, a task each. Default: all `f.label()` of the schema. */
  readonly labels?: readonly LabelName<F>[];
  /** Networks that the tasks share. Default: 4. */
  readonly experts?: number;
  /** Units of the hidden layer of a task. Default: 16. */
  readonly tower?: number;
}

/** Multi-gate mixture of experts: a probability for each label, from networks that all share. */
export function mmoe<F extends Features>(schema: Schema<F>, options: MmoeModelOptions<F> = {}): Model<F> {
  const { dim = DIM, hidden = HIDDEN, experts: count = 4, tower = 16 } = options;
  const marked = Object.keys(schema.features).filter((name) => schema.features[name]!.field?.role === 'label');
  const { labels = marked as LabelName<F>[], ...rest } = options;
  const [first] = labels;
  if (first === undefined) throw optionError('mmoe', 'labels', 'there is no label', 'f.label() is one');
  const known = [...DEEP, 'experts', 'tower'];
  return zooModel('mmoe', known, schema, { ...rest, label: first }, (inputs, m) => {
    const x = besides([...m.embed(inputs.ids, { dim }), inputs.numbers]);
    const mixed: readonly Tensor[] = experts(x, { experts: count, tasks: labels.length, units: hidden });
    return m.heads(
      mixed.map((task, index) => m.binary(mlp(task, [tower, 1], { name: labels[index]! }), { label: labels[index]! })),
    );
  });
}
