import t from 'tap';
import { runCtr } from '../../bench/ctr.js';
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
  await t.rejects(runCtr({ dir, model: 'lr', batch: 1024, threads: 1 }), { code: 'ML_DATASET' });
});
