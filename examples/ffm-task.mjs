/**
 * The demo binary of native_training: the FFM task, trained for 100 steps and saved every 50.
 *
 *   node examples/ffm-task.mjs [steps] --model-dir runs/ffm-task
 */
import { parseArgs } from 'node:util';
import { demo } from 'monolith-ts';
import { localTrain } from 'monolith-ts/compat';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'model-dir': { type: 'string' },
    'num-ps': { type: 'string', default: '0' },
  },
});
const modelDir = values['model-dir'];
const params = demo.FFMParams();
params.serving.export_when_saving = true;
const estimator = await localTrain(params, {
  numPs: Number(values['num-ps']),
  steps: Number(positionals[0] ?? 100),
  saveCheckpointsSteps: 50,
  ...(modelDir !== undefined && { modelDir }),
});
const { loss, globalStep } = await estimator.evaluate({ steps: 1 });
console.log(`step ${globalStep}: loss ${loss.toFixed(4)}, saved to ${await estimator.latestCheckpoint()}`);
await estimator.close();
