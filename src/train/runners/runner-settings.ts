/** @file The flags of gpu_runner and tpu_runner, as records. */
import { recordClass } from '../config/config-record.js';
import { bool, choice, int, maybeInt, maybeText, text } from '../config/field.js';

export const RUNNER_MODES = ['train_and_eval', 'train', 'eval'] as const;

const runnerFlags = {
  task: maybeText('Name of the task to run.'),
  modelDir: maybeText('Directory of checkpoints and summaries.'),
  saveCheckpointsSteps: maybeInt('Steps between two checkpoints; without it there is one at the end.', { min: 1 }),
  paramsOverride: maybeText('JSON object of dotted names of task parameters and their values.'),
  mode: choice(RUNNER_MODES, 'train', 'What to do: train, eval or train_and_eval.'),
};

/** Settings of a GpuRunner. */
export class GpuRunnerSettings extends recordClass(runnerFlags) {}

/** Settings of a TpuRunner. Those of a TPU are taken and checked, and have nothing to work on here. */
export class TpuRunnerSettings extends recordClass({
  ...runnerFlags,
  tfVersion: text('nightly', 'Version of TensorFlow on the TPU.'),
  tpu: maybeText('TPU to use: its name or address. There is none here.'),
  gcpProject: maybeText('Project of the TPU.'),
  tpuZone: maybeText('Zone of the TPU.'),
  iterationsPerLoop: int(10_000, 'Steps on the TPU before the host is asked.', { min: 1 }),
  pipelineExecution: bool(false, 'Lookups are one step old.'),
  enableTpuVersionConfig: bool(true, 'Set the version of the TPU before the run.'),
  hostCallEveryNSteps: int(500, 'Steps between two calls of the host.', { min: 0 }),
  enableStoppingSignals: bool(false, 'Save when the input ends.'),
  cpuTest: bool(false, 'Train on the CPU, to try a task out.'),
  partitionStrategy: text('mod', 'How tables are split: mod or div.'),
  overwriteEndDate: text('', 'Last day of input, in place of train.end_date of the task.'),
}) {}
