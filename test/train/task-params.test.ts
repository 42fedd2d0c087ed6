import t from 'tap';
import { Params } from '../../src/base/params/params.js';
import { monolithBaseModelParams, monolithModelParams, nativeTaskParams } from '../../src/train/task-params.js';

/** All paths of a tree with their values. */
function pathsOf(params: Params, within = ''): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, value] of params.iterParams()) {
    if (value instanceof Params) Object.assign(found, pathsOf(value, `${within}${name}.`));
    else found[within + name] = value;
  }
  return found;
}

const TASK = {
  accelerator: null,
  mode: 'train',
  'input.eval_examples': null,
  'input.train_examples': null,
  'eval.per_replica_batch_size': null,
  'eval.steps_per_eval': 10000,
  'eval.steps': null,
  'train.steps': null,
  'train.max_steps': null,
  'train.per_replica_batch_size': null,
  'train.file_pattern': null,
  'train.repeat': false,
  'train.label_key': 'label',
  'train.save_checkpoints_steps': null,
  'train.save_checkpoints_secs': null,
  'train.dense_only_save_checkpoints_secs': null,
  'train.dense_only_save_checkpoints_steps': null,
  'train.max_pending_seconds_for_barrier': 30,
  'train.slow_start_steps': 0,
  'train.sample_bias': 0,
  'train.use_gpu_emb_table': false,
  'train.use_fountain': false,
  'train.fountain_zk_host': '',
  'train.fountain_model_name': '',
  'train.fountain_parse_on_server': false,
  'train.fountain_precompute_value_rowids': false,
  'metrics.enable_deep_insight': false,
  'metrics.deep_insight_target': 'ctr_head',
  'metrics.deep_insight_name': null,
  'metrics.deep_insight_sample_ratio': 0.01,
  'metrics.extra_fields_keys': [],
  'metrics.enable_throughput_hook': true,
  'metrics.enable_kafka_metrics': false,
  'metrics.enable_tf2_profiler_hook': true,
  'metrics.enable_file_metrics': false,
  'metrics.file_base_name': 'deepinsight_results',
  'metrics.file_ext': 'txt',
  'metrics.parse_fn': null,
  'metrics.key_fn': null,
  'metrics.layout_fn': null,
  'metrics.dump_filename': '',
  'metrics.use_data_service': false,
  'serving.export_with_gpu_allowed': false,
  'serving.export_with_cleared_entry_devices': false,
  'serving.export_when_saving': false,
  'serving.export_dir_base': 'exported_models',
  'serving.export_mode': 'DISTRIBUTED',
  'serving.shared_embedding': true,
  'serving.with_remote_gpu': false,
};
const BASE_MODEL = {
  output_path: null,
  output_fields: null,
  delimiter: '\t',
  file_name: '',
  enable_grads_and_vars_summary: false,
  dense_weight_decay: 0,
  clip_norm: 1000,
  sparse_norm_warmup_steps: null,
  default_occurrence_threshold: 0,
};

class Task {
  readonly batchSize: unknown;
  constructor(params: unknown) {
    this.batchSize = (params as Params).get('train.per_replica_batch_size');
  }
}

t.test('the tree of a task has the defaults of the reference, and nothing else', async (t) => {
  const rest = ({ name, cls, ...found }: Record<string, unknown>) => {
    t.match(name, /^(Task|task)/);
    return found;
  };
  t.same(rest(pathsOf(nativeTaskParams(Task))), TASK);
  t.same(rest(pathsOf(monolithBaseModelParams())), { ...TASK, ...BASE_MODEL });
  t.same(rest(pathsOf(monolithModelParams())), { ...TASK, ...BASE_MODEL, feature_list: null });
});

t.test('a task is made from its tree, and every tree is its own', async (t) => {
  const params = nativeTaskParams(Task);
  params.train.per_replica_batch_size = 512;
  params.metrics.extra_fields_keys.push('x');
  t.equal(params.instantiate().batchSize, 512);
  t.same(nativeTaskParams(Task).metrics.extra_fields_keys, []);
  t.throws(() => params.set({ 'train.label': 'click' }), /did you mean: \[.*label_key/);
});
