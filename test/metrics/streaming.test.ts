import fc from 'fast-check';
import t from 'tap';
import { BucketedAuc, ThresholdAuc } from '../../src/metrics/bucketed-auc.js';
import { createMetric, type MetricName } from '../../src/metrics/create-metric.js';
import { ExactAuc } from '../../src/metrics/exact-auc.js';
import { Accuracy } from '../../src/metrics/means.js';
import type { Metric } from '../../src/metrics/metric.js';

interface Example {
  readonly label: number;
  readonly p: number;
  readonly weight: number;
  readonly group: number;
}

/** By the definition: every pair of a positive and a negative, each with the product of both weights. */
function aucOf(examples: readonly Example[]): number | null {
  let [won, all] = [0, 0];
  for (const a of examples) {
    for (const b of examples) {
      if (!(a.label > 0) || b.label > 0) continue;
      all += a.weight * b.weight;
      won += a.weight * b.weight * (a.p > b.p ? 1 : a.p === b.p ? 0.5 : 0);
    }
  }
  return all === 0 ? null : won / all;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function mean(examples: readonly Example[], term: (e: Example) => number): number | null {
  const total = sum(examples.map(({ weight }) => weight));
  return total === 0 ? null : sum(examples.map((e) => e.weight * term(e))) / total;
}

function groupsOf(examples: readonly Example[]): Example[][] {
  const keys = [...new Set(examples.map(({ group }) => group))];
  return keys.map((key) => examples.filter(({ group }) => group === key));
}

/** All orders that a sort by score allows; groups are small. */
function ordersOf(group: readonly Example[]): Example[][] {
  if (group.length === 0) return [[]];
  const top = Math.max(...group.map(({ p }) => p));
  return group
    .filter(({ p }) => p === top)
    .flatMap((first) => ordersOf(group.filter((e) => e !== first)).map((rest) => [first, ...rest]));
}

/** The mean over groups with a positive of the mean over orders of `value`. */
function ranked(examples: readonly Example[], value: (order: readonly Example[]) => number): number | null {
  const groups = groupsOf(examples).filter((group) => group.some(({ label }) => label > 0));
  if (groups.length === 0) return null;
  return sum(groups.map((group) => sum(ordersOf(group).map(value)) / ordersOf(group).length)) / groups.length;
}

const dcg = (order: readonly Example[], k: number) =>
  sum(order.slice(0, k).map(({ label }, place) => (2 ** label - 1) / Math.log2(place + 2)));

const NAIVE: Record<string, (examples: readonly Example[]) => number | null> = {
  auc: aucOf,
  bucketedAuc: (examples) => aucOf(examples.map((e) => ({ ...e, p: Math.min(16383, Math.floor(e.p * 16384)) }))),
  logLoss: (examples) =>
    mean(examples, ({ label, p }) => {
      const bounded = Math.min(1 - 1e-7, Math.max(1e-7, p));
      return -(label * Math.log(bounded) + (1 - label) * Math.log(1 - bounded));
    }),
  rmse: (examples) => {
    const square = mean(examples, ({ label, p }) => (p - label) ** 2);
    return square === null ? null : Math.sqrt(square);
  },
  mae: (examples) => mean(examples, ({ label, p }) => Math.abs(p - label)),
  accuracy: (examples) => mean(examples, ({ label, p }) => Number(p > 0.5 === label > 0)),
  calibration: (examples) => {
    const labels = sum(examples.map((e) => e.weight * e.label));
    return labels === 0 ? null : sum(examples.map((e) => e.weight * e.p)) / labels;
  },
  gauc: (examples) => {
    const groups = groupsOf(examples).flatMap((group) => {
      const value = aucOf(group);
      return value === null ? [] : [{ value, weight: sum(group.map(({ weight }) => weight)) }];
    });
    if (groups.length === 0) return null;
    return sum(groups.map(({ value, weight }) => value * weight)) / sum(groups.map(({ weight }) => weight));
  },
  'ndcg@3': (examples) =>
    ranked(
      examples,
      (order) =>
        dcg(order, 3) /
        dcg(
          [...order].sort((a, b) => b.label - a.label),
          3,
        ),
    ),
  'recall@2': (examples) =>
    ranked(
      examples,
      (order) =>
        order.slice(0, 2).filter(({ label }) => label > 0).length / order.filter(({ label }) => label > 0).length,
    ),
};
const UNWEIGHTED = new Set(['ndcg@3', 'recall@2']);

const example = fc.record({
  label: fc.constantFrom(0, 1),
  p: fc.oneof(fc.constantFrom(0, 0.25, 0.5, 1), fc.double({ min: 0, max: 1, noNaN: true })),
  weight: fc.constantFrom(0, 0.5, 1, 3),
  group: fc.integer({ min: 0, max: 4 }),
});

function feed(metric: Metric, examples: readonly Example[], weighted: boolean): void {
  metric.update(
    examples.map(({ label }) => label),
    Float64Array.from(examples, ({ p }) => p),
    weighted ? examples.map(({ weight }) => weight) : undefined,
    examples.map(({ group }) => BigInt(group)),
  );
}

function close(a: number | null, b: number | null): boolean {
  if (a === null || b === null) return a === b;
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b));
}

for (const [name, naive] of Object.entries(NAIVE)) {
  t.test(`${name} is what its definition says, in portions and merged`, async () => {
    fc.assert(
      fc.property(fc.array(example, { maxLength: 14 }), fc.nat(), fc.boolean(), (examples, cut, weigh) => {
        const weighted = weigh && !UNWEIGHTED.has(name);
        const expected = naive(weighted ? examples : examples.map((e) => ({ ...e, weight: 1 })));
        const at = examples.length === 0 ? 0 : cut % examples.length;
        const [one, first, second] = [1, 2, 3].map(() => createMetric(name as MetricName)) as [Metric, Metric, Metric];
        feed(one, examples.slice(0, at), false);
        feed(first, examples.slice(0, at), weighted);
        feed(second, examples.slice(at), weighted);
        const before = one.result();
        first.merge(second);
        const portions = createMetric(name as MetricName);
        feed(portions, examples.slice(0, at), weighted);
        feed(portions, examples.slice(at), weighted);
        return (
          close(first.result(), expected) &&
          close(portions.result(), expected) &&
          close(before, naive(examples.slice(0, at).map((e) => ({ ...e, weight: 1 }))))
        );
      }),
      { numRuns: 150 },
    );
  });
}

t.test('weights may come late: what came before weighs 1', async (t) => {
  const metric = new ExactAuc();
  metric.update([1, 0], [0.2, 0.4]);
  metric.update([1], [0.9], [3]);
  t.equal(metric.result(), 0.75);
});

t.test('counts of buckets can be sent to another thread and added there', async (t) => {
  const [here, there] = [new BucketedAuc({ buckets: 64 }), new BucketedAuc({ buckets: 64 })];
  here.update([1, 0], [0.9, 0.8]);
  there.update([1, 0], [0.3, 0.6]);
  here.add(structuredClone(there.counts));
  t.equal(here.result(), 0.5);
  t.throws(() => here.merge(new BucketedAuc({ buckets: 32 })), { code: 'ML_METRIC' });
});

t.test('bucketed AUC is near the exact one', async (t) => {
  const [exact, bucketed, thresholds] = [new ExactAuc(), new BucketedAuc(), new ThresholdAuc()];
  let state = 1;
  const next = () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
  const p = Float32Array.from({ length: 20_000 }, next);
  const labels = p.map((value) => Number(next() < value));
  for (const metric of [exact, bucketed, thresholds]) metric.update(labels, p);
  t.ok(Math.abs(exact.result()! - bucketed.result()!) < 1e-4);
  t.ok(Math.abs(exact.result()! - thresholds.result()!) < 1e-3);
});

t.test('thresholdAuc counts as tf.metrics.auc does: above each of its thresholds', async (t) => {
  fc.assert(
    fc.property(fc.array(example, { maxLength: 30 }), fc.integer({ min: 2, max: 12 }), (examples, count) => {
      const metric = new ThresholdAuc({ thresholds: count });
      feed(metric, examples, true);
      const inner = Array.from({ length: count - 2 }, (_, i) => Math.fround((i + 1) / (count - 1)));
      const thresholds = [-1e-7, ...inner, 1 + 1e-7];
      const above = (positive: boolean, threshold: number) =>
        sum(examples.filter((e) => e.label > 0 === positive && e.p > threshold).map(({ weight }) => weight));
      const [all, none] = [above(true, -1), above(false, -1)];
      if (all === 0 || none === 0) return metric.result() === null;
      const tpr = thresholds.map((threshold) => (above(true, threshold) + 1e-6) / (all + 1e-6));
      const fpr = thresholds.map((threshold) => above(false, threshold) / (none + 1e-6));
      const area = sum(tpr.slice(1).map((y, i) => ((fpr[i]! - fpr[i + 1]!) * (y + tpr[i]!)) / 2));
      return close(metric.result(), area);
    }),
    { numRuns: 200 },
  );
  const perfect = new ThresholdAuc();
  perfect.update([0, 0, 1, 1], [0, 0.5, 0.3, 0.9]);
  t.ok(Math.abs(perfect.result()! - 0.75) < 1e-6, 'the example of the documentation of tf.keras.metrics.AUC');
});

t.test('nothing yet, one class or no positive: the value is null', async (t) => {
  const names = [...Object.keys(NAIVE), 'thresholdAuc'] as MetricName[];
  for (const name of names) t.equal(createMetric(name).result(), null, name);
  for (const name of ['auc', 'bucketedAuc', 'thresholdAuc', 'calibration', 'gauc', 'ndcg@3', 'recall@2'] as const) {
    const metric = createMetric(name);
    metric.update([0, 0], [0.5, 0.7], undefined, ['a', 'b']);
    t.equal(metric.result(), null, name);
  }
});

t.test('bad input is refused with a code, and leaves what was counted as it was', async (t) => {
  for (const name of Object.keys(NAIVE) as MetricName[]) {
    const metric = createMetric(name);
    metric.update([0, 1], [0.4, 0.6], undefined, [1, 1]);
    const before = metric.result();
    const groups = [1, 1];
    const bad: [string, () => void][] = [
      ['a NaN prediction', () => metric.update([0, 1], [0, Number.NaN], undefined, groups)],
      ['an infinite prediction', () => metric.update([0, 1], [0, Number.POSITIVE_INFINITY], undefined, groups)],
      ['a NaN label', () => metric.update([0, Number.NaN], [0, 1], undefined, groups)],
      ['a NaN weight', () => metric.update([0, 1], [0, 1], [1, Number.NaN], groups)],
      ['a weight below zero', () => metric.update([0, 1], [0, 1], [1, -1], groups)],
      ['too few predictions', () => metric.update([0, 1], [0], undefined, groups)],
      ['another metric', () => metric.merge(createMetric(name === 'mae' ? 'rmse' : 'mae'))],
      ['itself', () => metric.merge(metric)],
    ];
    for (const [what, act] of bad) t.throws(act, { code: 'ML_METRIC', fields: { metric: name } }, `${name}: ${what}`);
    t.equal(metric.result(), before, name);
  }
  for (const name of ['logLoss', 'bucketedAuc', 'thresholdAuc'] as const) {
    t.throws(() => createMetric(name).update([1], [1.5]), { code: 'ML_METRIC' }, `${name}: no probability`);
  }
  for (const name of ['gauc', 'ndcg@5', 'recall@5'] as const) {
    t.throws(() => createMetric(name).update([1], [1]), { code: 'ML_METRIC', fields: { reason: /group/ } }, name);
  }
  t.throws(() => createMetric('ndcg@5').update([1], [1], [1], [1]), {
    code: 'ML_METRIC',
    fields: { reason: 'a rank has no weight' },
  });
});

t.test('names and settings that mean nothing are refused', async (t) => {
  for (const name of ['acu', 'ndcg', 'ndcg@0', 'recall@x', 'auc@3', 'constructor'] as MetricName[]) {
    t.throws(() => createMetric(name), { code: 'ML_METRIC' }, name);
  }
  t.throws(() => new BucketedAuc({ buckets: 0 }), { code: 'ML_METRIC' });
  t.throws(() => new ThresholdAuc({ thresholds: 1 }), { code: 'ML_METRIC' });
  t.throws(() => new Accuracy().merge(new Accuracy({ threshold: 0.3 })), { code: 'ML_METRIC' });
});
