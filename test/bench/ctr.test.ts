import t from 'tap';
import { runCtr } from '../../bench/ctr.js';
import { CTR_FEEDS } from '../../bench/ctr-feeds.js';
import { CTR_MODELS } from '../../bench/ctr-models.js';
import { writeCtrFiles } from '../../bench/ctr-ref-files.js';

t.test('each model trains on a small ctr-ref and says what it did', async (t) => {
  const dir = t.testdir();
  writeCtrFiles({ folder: dir, train: 1300, test: 300, seed: 3, text: false });
  for (const model of CTR_MODELS) {
    const result = await runCtr({ dir, model, batch: 128, threads: 2, warmSteps: 2 });
    t.match(result, { system: 'ours', model, batch: 128, threads: 2, examples: 1280 });
    t.ok(result.examples_per_s > 0 && result.peak_rss_mb > 0, model);
    t.ok(result.auc > 0.4 && result.auc < 1, `${model}: ${result.auc}`);
  }
  const fed: number[] = [];
  for (const feed of CTR_FEEDS) {
    const { auc, ...result } = await runCtr({ dir, model: 'lr', batch: 128, threads: 1, warmSteps: 2, feed });
    t.match(result, { feed, examples: 1280 });
    t.ok(result.cpu_us_per_example > 0);
    fed.push(auc);
  }
  t.ok(
    fed.every((auc) => Math.abs(auc - fed[0]!) < 0.01),
    `whatever feeds it, the model is the same: ${fed}`,
  );
  await t.rejects(runCtr({ dir, model: 'lr', batch: 1024, threads: 1 }), { code: 'ML_DATASET' });
});
