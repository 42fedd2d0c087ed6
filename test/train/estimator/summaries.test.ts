import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { f } from '../../../src/data/fields.js';
import { defineSchema } from '../../../src/data/schema.js';
import { mlp } from '../../../src/layers/mlp-layer.js';
import { defineModel } from '../../../src/train/define-model.js';
import { Estimator } from '../../../src/train/estimator/estimator.js';
import type { EstimatorOptions } from '../../../src/train/estimator/estimator-options.js';
import { readEvents, readScalars } from '../../support/read-events.js';
import { tasteRows } from './tastes.js';

const schema = defineSchema({ user: f.id(), item: f.id(), label: f.label() });
const model = defineModel(schema, { name: 'summed' }, ({ user, item }, m) => {
  const [a, b] = m.embed([user, item], { dim: 4 });
  return m.binary([mlp(a, [4, 1]), mlp(b, [1])]);
});

const eventFile = (dir: string) => readdirSync(dir).find((name) => name.includes('tfevents'));
const pointsOf = (dir: string) => readScalars(join(dir, eventFile(dir)!));

async function train(modelDir: string | null, options: EstimatorOptions = {}) {
  const estimator = new Estimator(model, {
    modelDir,
    ...{ batchSize: 32, threads: 1, seed: 1, session: { memoryBytes: 2 ** 26 } },
    ...options,
  });
  try {
    await estimator.train(tasteRows(320), { steps: 25, evaluate: { data: tasteRows(64, 1000), everySteps: 20 } });
  } finally {
    await estimator.close();
  }
}

t.test('a training writes loss, AUC, gradient norms, speed and rows, and its evaluations', async (t) => {
  const modelDir = join(t.testdir({}), 'model');
  await train(modelDir, { summaryEverySteps: 10 });
  const points = pointsOf(modelDir);
  for (const tag of ['loss', 'label_auc', 'global_gradient_norm', 'table/user/rows']) {
    t.same(
      points.get(tag)?.map(([step]) => step),
      [1, 11, 21],
      tag,
    );
  }
  t.ok((points.get('global_step/sec')?.length ?? 0) > 0 && points.has('examples/sec'));
  const [all, dense, sparse] = ['', '/dense', '/sparse'].map(
    (part) => points.get(`global_gradient_norm${part}`)!.at(-1)![1],
  );
  t.ok(dense! > 0 && sparse! > 0);
  t.ok(Math.abs(Math.hypot(dense!, sparse!) - all!) < 1e-6, 'the norm of all is that of both');
  const evaluated = pointsOf(join(modelDir, 'eval'));
  t.same(
    evaluated.get('auc')?.map(([step]) => step),
    [20, 25],
  );
});

t.test('what is written changes nothing of what is learnt', async (t) => {
  const dir = t.testdir({});
  await train(join(dir, 'a'), { summaryEverySteps: 3, summariseGradients: true });
  await train(join(dir, 'b'), { summaryEverySteps: 0 });
  t.equal(eventFile(join(dir, 'b')), undefined, '0 writes none');
  const files = readdirSync(join(dir, 'b')).filter((name) => name.startsWith('model.ckpt-25.'));
  t.ok(files.length > 0);
  for (const name of files.filter((file) => file.includes('.data-'))) {
    t.ok(readFileSync(join(dir, 'a', name)).equals(readFileSync(join(dir, 'b', name))), name);
  }
});

t.test('norms and values of each variable and gradient come with summariseGradients', async (t) => {
  const modelDir = join(t.testdir({}), 'model');
  await train(modelDir, { summariseGradients: true });
  const values = readEvents(join(modelDir, eventFile(modelDir)!)).flatMap(({ summary }) => summary?.value ?? []);
  const tags = new Set(values.map(({ tag }) => tag));
  const kernel = [...tags]
    .find((tag) => /^trainable_variable\/.*kernel$/.test(tag))!
    .slice('trainable_variable/'.length);
  for (const tag of ['gradient', 'gradient_norm', 'trainable_variable', 'trainable_variable_norm']) {
    t.ok(tags.has(`${tag}/${kernel}`), `${tag}/${kernel}`);
  }
  for (const tag of ['user_gradient', 'dense_grad_sizes', 'dense_grad_total_size', 'dense_grad_total_num']) {
    t.ok(tags.has(tag), tag);
  }
  const histogram = values.find(({ tag }) => tag === `trainable_variable/${kernel}`)?.histo;
  t.equal(histogram?.num, 16, 'all values of the variable are counted');
});

t.test('an estimator without a directory writes no file', async (t) => {
  await train(null);
  t.notOk(existsSync('eval'));
});

t.test('steps between points are a whole number', (t) => {
  t.throws(() => new Estimator(model, { summaryEverySteps: 1.5 }), { code: 'ML_OPTION', message: /summaryEverySteps/ });
  t.end();
});
