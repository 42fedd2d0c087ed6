/**
 * @file TensorFlow computes what sessions do, of models that were exported as SavedModels: op by op, and a trained one.
 * Needs MONOLITH_ORACLE_PYTHON, a Python with TensorFlow, and else skips.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { exportSavedModel } from '../../../src/serve/saved-model/export-saved-model.js';
import { missing } from '../../requirement.js';
import { purchases, trainedEstimator } from '../shops.js';
import { everyOpModel, records, worstOf } from './exportable.js';
import { purchaseRecords } from './purchase-feeds.js';

const BOUND = 1e-5;
const python = process.env.MONOLITH_ORACLE_PYTHON;
const script = fileURLToPath(new URL('../../../../test/oracle/run_saved_model.py', import.meta.url));

interface Served {
  readonly served: Readonly<Record<string, number[]>>;
  readonly raw: Readonly<Record<string, number[]>>;
  /** Of an example without any feature. */
  readonly missing: Readonly<Record<string, number[]>>;
  readonly signatures: readonly string[];
}

async function tensorflow(folder: string, examples: readonly Uint8Array[]): Promise<Served> {
  const file = join(folder, 'examples.json');
  const texts = examples.map((record) => Buffer.from(record).toString('base64'));
  writeFileSync(file, JSON.stringify({ examples: texts }));
  const env = { ...process.env, TF_CPP_MIN_LOG_LEVEL: '3', CUDA_VISIBLE_DEVICES: '' };
  const { stdout } = await promisify(execFile)(python!, [script, folder, file], { timeout: 100_000, env });
  return JSON.parse(stdout.slice(stdout.indexOf('{'))) as Served;
}

if (python === undefined) {
  t.pass('TensorFlow', { skip: missing('oracle', 'MONOLITH_ORACLE_PYTHON names no Python with TensorFlow') });
} else {
  t.test('TensorFlow computes every op as sessions do', async (t) => {
    const dir = t.testdir();
    const { model, expected } = await everyOpModel();
    await exportSavedModel(model, dir);
    const { served, raw, signatures } = await tensorflow(dir, records());
    t.same(signatures, ['__saved_model_init_op', 'raw', 'serving_default']);
    for (const [name, values] of expected) {
      t.ok(worstOf(served[name]!, values) < BOUND, `${name}: ${worstOf(served[name]!, values)}`);
      t.ok(worstOf(raw[name]!, values) < BOUND, `raw ${name}`);
    }
  });

  t.test('TensorFlow predicts what the estimator does, and of nothing as of missing cells', async (t) => {
    const dir = t.testdir();
    const estimator = await trainedEstimator(join(dir, 'run'));
    t.teardown(() => estimator.close());
    const rows = purchases(100, 7000);
    const nothing = { user: null, item: null, tags: null, price: null, when: 0 };
    const expected: number[] = [];
    for await (const { prediction } of estimator.predict([...rows, nothing] as never)) {
      expected.push(prediction as number);
    }
    const folder = await estimator.exportSavedModel(join(dir, 'export'));
    const { served, raw, missing: none } = await tensorflow(folder, purchaseRecords(rows));
    const values = Float32Array.from(expected.slice(0, rows.length));
    t.ok(worstOf(served.output!, values) < BOUND);
    t.ok(worstOf(raw.output!, values) < BOUND);
    t.ok(worstOf(none.output!, Float32Array.of(expected.at(-1)!)) < BOUND);
  });
}
