/** @file A small trained estimator, for tests of what serves: who buys what, with every kind of feature. */
import { hashU32 } from '../../src/base/random.js';
import { f } from '../../src/data/fields.js';
import { defineSchema } from '../../src/data/schema.js';
import { Estimator } from '../../src/train/estimator/estimator.js';
import { deepfm } from '../../src/zoo/deep.js';
import '../../src/serve/provide.js';

export const schema = defineSchema({
  user: f.id(),
  item: f.id(),
  tags: f.ids({ split: '|' }),
  price: f.number(),
  when: f.time(),
  bought: f.label({ rule: '>=1' }),
});

export interface Purchase {
  readonly user: string;
  readonly item: number;
  readonly tags: string;
  readonly price: number;
  readonly when: number;
  readonly bought: number;
}

export function purchases(count: number, first = 0): Purchase[] {
  return Array.from({ length: count }, (_, index) => {
    const draw = (stream: number, n: number) => hashU32(stream, index + first) % n;
    const [user, item] = [draw(1, 60), draw(2, 40)];
    const tags = ['red', 'blue', 'new', 'old'].slice(draw(3, 4)).join('|');
    return { user: `u${user}`, item, tags, price: draw(4, 100) / 10, when: 1000 + index, bought: (user + item) % 2 };
  });
}

/** Trains a little; the caller closes it. */
export async function trainedEstimator(modelDir: string): Promise<Estimator<typeof schema.features>> {
  const model = deepfm(schema, { dim: 4, hidden: [8] });
  const session = { memoryBytes: 2 ** 26 };
  const estimator = new Estimator(model, { modelDir, batchSize: 64, threads: 1, seed: 1, session });
  await estimator.train(purchases(1000), { epochs: 1 });
  return estimator;
}

/** Session options of loaded models that cost tests little. */
export const small = { session: { memoryBytes: 2 ** 26 } } as const;
