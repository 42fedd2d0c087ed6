/**
 * @file The hyper-parameters every task has, with the defaults of the reference (base_task, native_task, native_model).
 *
 * They are a tree of Params: what a program reads of it is up to the program. Names and defaults are upstream's, so
 * that settings written for it can be applied with `set`.
 */
import { type AnyClass, InstantiableParams } from '../base/params/instantiable-params.js';
import { Params } from '../base/params/params.js';
import { getUname } from '../base/params/with-params.js';

export const MODES = ['train', 'eval', 'infer'] as const;
export type Mode = (typeof MODES)[number];
export const EXPORT_MODES = ['NONE', 'STANDALONE', 'DISTRIBUTED'] as const;
export type ExportMode = (typeof EXPORT_MODES)[number];

type MaybeNumber = number | null;
type MaybeText = string | null;
type MaybeFunction = ((...args: never[]) => unknown) | null;

const inputParams = () =>
  new Params()
    .define('eval_examples', null as MaybeNumber, 'Number of eval examples.')
    .define('train_examples', null as MaybeNumber, 'Number of train examples.');

const evalParams = () =>
  new Params()
    .define('per_replica_batch_size', null as MaybeNumber, 'Examples of a batch of evaluation.')
    .define('steps_per_eval', 10000, 'Steps of training between two evaluations.')
    .define('steps', null as MaybeNumber, 'Batches of an evaluation; null for all there are.');

const trainParams = () =>
  new Params()
    .define('steps', null as MaybeNumber, 'Steps to train in this run.')
    .define('max_steps', null as MaybeNumber, 'Global step to train up to.')
    .define('per_replica_batch_size', null as MaybeNumber, 'Examples of a batch of training.')
    .define('file_pattern', null as MaybeText, 'Files of training data.')
    .define('repeat', false, 'Begin the data again when it ends.')
    .define('label_key', 'label', 'Name of the label.')
    .define('save_checkpoints_steps', null as MaybeNumber, 'Steps between two checkpoints.')
    .define('save_checkpoints_secs', null as MaybeNumber, 'Seconds between two checkpoints.')
    .define('dense_only_save_checkpoints_secs', null as MaybeNumber, 'Seconds between two checkpoints without tables.')
    .define('dense_only_save_checkpoints_steps', null as MaybeNumber, 'Steps between two checkpoints without tables.')
    .define('max_pending_seconds_for_barrier', 30, 'How long workers wait at the barrier of a save.')
    .define('slow_start_steps', 0, 'Steps over which workers join one after the other.')
    .define('sample_bias', 0.0, 'Correction of the logit for sampled negatives.')
    .define('use_gpu_emb_table', false, 'Tables in the memory of a GPU: what useGpuEmbTable of a session takes.')
    .define('use_fountain', false, 'Read data from a fountain.')
    .define('fountain_zk_host', '', 'ZooKeeper of the fountain.')
    .define('fountain_model_name', '', 'Name of the model at the fountain.')
    .define('fountain_parse_on_server', false, 'The fountain parses examples.')
    .define('fountain_precompute_value_rowids', false, 'The fountain computes row ids.');

const metricsParams = () =>
  new Params()
    .define('enable_deep_insight', false, 'Send samples of predictions to deep insight.')
    .define('deep_insight_target', 'ctr_head', 'Heads to send, by commas.')
    .define('deep_insight_name', null as MaybeText, 'Name of the model at deep insight.')
    .define('deep_insight_sample_ratio', 0.01, 'Share of examples to send.')
    .define('extra_fields_keys', [] as string[], 'Further features to send.')
    .define('enable_throughput_hook', true, 'Report examples per second.')
    .define('enable_kafka_metrics', false, 'Send metrics to Kafka.')
    .define('enable_tf2_profiler_hook', true, 'Profile some steps.')
    .define('enable_file_metrics', false, 'Write metrics to files.')
    .define('file_base_name', 'deepinsight_results', 'Files of metrics; relative to the model directory.')
    .define('file_ext', 'txt', 'What names of metric files end in.')
    .define('parse_fn', null as MaybeFunction, 'Makes a record of what is sent.')
    .define('key_fn', null as MaybeFunction, 'Key of a record.')
    .define('layout_fn', null as MaybeFunction, 'Text of a record.')
    .define('dump_filename', '', 'File that predictions are dumped to.')
    .define('use_data_service', false, 'Metrics come from a data service.');

const servingParams = () =>
  new Params()
    .define('export_with_gpu_allowed', false, 'Exported graphs may ask for a GPU.')
    .define('export_with_cleared_entry_devices', false, 'The entry of exported graphs names no device.')
    .define('export_when_saving', false, 'Export with each checkpoint.')
    .define('export_dir_base', 'exported_models', 'Folder of exports, in the model directory.')
    .define('export_mode', 'DISTRIBUTED' as ExportMode, 'One graph, or an entry and graphs of parameter servers.')
    .define('shared_embedding', true, 'Models that are served share tables.')
    .define('with_remote_gpu', false, 'Dense parts are served by a GPU elsewhere.');

/** The tree as one that can make an instance: `define` knows the names it adds, and not what it added them to. */
const instantiable =
  <T>() =>
  <P extends object>(tree: P) =>
    tree as P & Pick<InstantiableParams<T>, 'instantiate'>;

/**
 * Parameters of a task: `cls` is what `instantiate` makes.
 *
 * ```ts
 * const params = nativeTaskParams(MyTask);
 * params.set({ 'train.per_replica_batch_size': 512, 'train.label_key': 'click' });
 * const task = params.instantiate();
 * ```
 */
export function nativeTaskParams<T = unknown>(cls: AnyClass<T> | null = null) {
  const tree = new InstantiableParams<T>(cls)
    .define('name', getUname(cls?.name ?? 'task'), 'Name of the task.')
    .define('accelerator', null as MaybeText, 'Kind of device: null, or tpu and the like.')
    .define('mode', 'train' as Mode, 'What the task is made for.')
    .define('input', inputParams(), 'Parameters of the input.')
    .define('eval', evalParams(), 'Parameters of evaluation.')
    .define('train', trainParams(), 'Parameters of training.')
    .define('metrics', metricsParams(), 'Parameters of metrics.')
    .define('serving', servingParams(), 'Parameters of export and serving.');
  return instantiable<T>()(tree);
}

/** Those of a task and what MonolithBaseModel adds: what is written in inference, and how gradients are treated. */
export function monolithBaseModelParams<T = unknown>(cls: AnyClass<T> | null = null) {
  const tree = nativeTaskParams<T>(cls)
    .define('output_path', null as MaybeText, 'Folder that predictions are written to.')
    .define('output_fields', null as MaybeText, 'Features to write beside predictions, by commas.')
    .define('delimiter', '\t', 'What stands between fields.')
    .define('file_name', '', 'File of predictions.')
    .define('enable_grads_and_vars_summary', false, 'Summaries of all gradients and variables.')
    .define('dense_weight_decay', 0.0, 'Share of a variable that is added to its gradient.')
    .define('clip_norm', 1000.0, 'Norm that gradients are clipped to.')
    .define('sparse_norm_warmup_steps', null as MaybeNumber, 'Steps over which the norm of lookups grows to clip_norm.')
    .define('default_occurrence_threshold', 0, 'Sightings before an id gets a row, where a feature says nothing.');
  return instantiable<T>()(tree);
}

/** Those of MonolithBaseModel and what MonolithModel adds. */
export function monolithModelParams<T = unknown>(cls: AnyClass<T> | null = null) {
  const help = 'File that lists features and their slots.';
  return instantiable<T>()(monolithBaseModelParams<T>(cls).define('feature_list', null as MaybeText, help));
}
