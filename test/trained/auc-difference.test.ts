import t from 'tap';
import { hashUniform } from '../../src/base/random.js';
import { auc } from '../../src/metrics/auc.js';
import { aucDifference } from '../../src/trained/auc-difference.js';

const made = (seed: number, rows: number, better: number) => {
  const labels = Float32Array.from({ length: rows }, (_, row) => (hashUniform(seed, 1, row) < 0.3 ? 1 : 0));
  const noise = (which: number, row: number) => hashUniform(seed, which, row) * 3;
  // Both err on the same rows, mostly: that is what makes their difference known so well.
  const scores = (which: number, gain: number) =>
    labels.map((label, row) => label * (1 + gain) + noise(2, row) + 0.3 * noise(which, row));
  return { labels, first: scores(3, 0), second: scores(4, better) };
};

t.test('the AUCs are those of the metric, ties included', (t) => {
  const { labels, first, second } = made(1, 500, 0.2);
  const rounded = first.map((score) => Math.round(score));
  const found = aucDifference(labels, rounded, second)!;
  t.ok(Math.abs(found.first - auc(labels, rounded)!) < 1e-12);
  t.ok(Math.abs(found.second - auc(labels, second)!) < 1e-12);
  t.ok(found.low < found.difference && found.difference < found.high);
  t.end();
});

t.test('the interval holds no difference where there is none, in about 95 of 100 draws', (t) => {
  let inside = 0;
  const draws = 200;
  for (let seed = 0; seed < draws; seed++) {
    const { labels, first, second } = made(seed, 400, 0);
    const { low, high } = aucDifference(labels, first, second)!;
    if (low <= 0 && high >= 0) inside++;
  }
  t.ok(inside >= 0.9 * draws && inside < draws, `${inside} of ${draws}`);
  t.end();
});

t.test('one class alone has no difference', (t) => {
  t.equal(aucDifference(Float32Array.of(1, 1, 1), Float32Array.of(1, 2, 3), Float32Array.of(3, 2, 1)), undefined);
  t.end();
});
