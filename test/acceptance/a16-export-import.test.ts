/** @file The rest of A16: what the reference's Estimator trained is exported, imported, and infers 10 times 64. */
import { join } from 'node:path';
import t from 'tap';
import { MersenneTwister } from '../../src/base/random.js';
import { FFM_SLOT_COUNT, generateFfmExample, slotToKey } from '../../src/demo/ffm-example.js';
import { FFMParams } from '../../src/demo/ffm-task.js';
import { encodeTfExample } from '../../src/io/tf-example.js';
import { RunConfig } from '../../src/train/config/run-config.js';
import { NativeEstimator } from '../../src/train/tasks/native-estimator.js';
import { listOf } from '../train/estimator/tastes.js';
import '../../src/serve/provide.js';

/** Ids of a slot in the demo of the reference. */
const VOCAB = 5;

t.test('A16: train 10, export, import, and 10 times 64 inferences as the estimator predicts', async (t) => {
  const modelDir = join(t.testdir({}), 'model');
  const conf = new RunConfig({ isLocal: true, modelDir });
  const session = { threads: 1, memoryBytes: 2 ** 27 };
  const estimator = new NativeEstimator(FFMParams(), conf, null, { session, env: {} });
  t.teardown(() => estimator.close());
  await estimator.train({ steps: 10 });
  const version = await estimator.exportSavedModel();
  t.ok(version.startsWith(join(modelDir, 'exported_models')), version);
  const imported = await estimator.importSavedModel(join(modelDir, 'exported_models'));
  t.teardown(() => imported.close());
  const [batch] = await listOf(estimator.predict({ yieldSingleExamples: false }));
  const { predictions } = batch!;
  t.equal(predictions.length, 64);
  const examples = serializedExamples();
  for (let turn = 0; turn < 10; turn++) {
    const { output } = await imported.infer(examples);
    t.equal(output!.length, 64);
    const worst = output!.reduce((most, value, at) => Math.max(most, Math.abs(value - predictions[at]!)), 0);
    t.ok(worst < 1e-5, `${worst}`);
  }
});

/** The examples of the task's own input, as the reference serializes them. */
function serializedExamples(): Uint8Array[] {
  const random = new MersenneTwister(0);
  return Array.from({ length: 64 }, () => {
    const { ids } = generateFfmExample(random, new Array<number>(FFM_SLOT_COUNT).fill(VOCAB));
    const features = ids.map((list, slot) => [slotToKey(slot), BigInt64Array.from(list)] as const);
    return encodeTfExample(Object.fromEntries(features));
  });
}
