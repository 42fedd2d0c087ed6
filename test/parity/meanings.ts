/**
 * @file Which names of parity files mean the same, as data.
 *
 * A name is read word by word: camelCase and snake_case, singular and plural, the order of words and fillers such as
 * `of` make no difference, and words of one row of WORDS are one word. Names of one row of NAMES are one name. A
 * handler states the names it knows; a name that is none of them, nor means one of them, is unknown and named in the
 * failure.
 */

/** Words that mean the same, alone or within a name. */
const WORDS: readonly (readonly string[])[] = [
  ['grad', 'gradient'],
  ['dim', 'dimension'],
  ['emb', 'embedding', 'embed'],
  ['acc', 'accum', 'accumulator'],
  ['opt', 'optimizer', 'optim'],
  ['comp', 'compressor', 'compression'],
  ['config', 'conf', 'cfg'],
  ['seq', 'sequence'],
  ['seg', 'segment'],
  ['lr', 'learningrate'],
  ['expected', 'want', 'wanted', 'expect'],
];

/** Words that mean the same within a name of several; alone they may mean different things. */
const WORDS_WITHIN: readonly (readonly string[])[] = [
  ['num', 'n', 'count', 'number', 'cnt'],
  ['init', 'initial', 'start', 'starting'],
  ['len', 'length'],
  ['max', 'maximum'],
  ['min', 'minimum'],
  ['ts', 'timestamp', 'time'],
  ['sec', 'second'],
  ['idx', 'index', 'indice'],
  ['val', 'value'],
  ['pos', 'position'],
  ['lr', 'rate'],
  ['prob', 'probability', 'p'],
  ['concurrency', 'parallelism'],
  ['w', 'weight'],
  ['end', 'final', 'last'],
];

/** Names that mean the same as a whole. A name may be in several rows: the first row that has a known one counts. */
const NAMES: readonly (readonly string[])[] = [
  ['ids', 'id', 'keys', 'key', 'fids', 'fid', 'id_list'],
  ['input', 'query', 'queries', 'lookup_ids', 'positions'],
  ['w', 'weights', 'weight', 'row', 'fill', 'var'],
  ['w0', 'w_0', 'w', 'w_init', 'init', 'init_value', 'weights', 'initial_weights', 'var', 'var0', 'vars', 'params'],
  ['steps', 'num_steps', 'step_count', 'times', 'repeat', 'repeats', 'iterations', 'runs', 'rounds', 'calls'],
  ['grad', 'grads', 'grad_each_step', 'grad_per_step', 'same_grad', 'constant_grad', 'g'],
  ['gradient', 'upstream_gradient', 'output_gradient', 'output_gradients', 'out_grad', 'grad_output', 'grads', 'dy'],
  ['lr', 'learning_rate', 'learning_rates', 'rate', 'lrs', 'lr_each_step', 'alpha', 'eta'],
  ['lr_fn', 'learning_rate_fn', 'lr_schedule', 'rate_fn', 'learning_rate_function'],
  ['opt', 'optimizer', 'opt_config'],
  ['config', 'opt_config', 'optimizer_config', 'options', 'params', 'hyperparameters'],
  ['init', 'initializer', 'init_config'],
  ['comp', 'compressor', 'compression', 'quantizer'],
  ['type', 'kind', 'name', 'compressor', 'comp'],
  ['max_seq_length', 'max_len', 'max_length', 'max_seq'],
  ['types', 'parts', 'segments'],
  ['values', 'value', 'inputs', 'input', 'x', 'nums', 'num', 'data', 'floats'],
  ['inputs', 'input', 'x', 'values', 'value', 'ids', 'keys'],
  ['embeddings', 'embedding', 'table', 'rows', 'emb'],
  ['rows', 'row_ids', 'rowids', 'segment_ids', 'indices', 'ragged', 'lists'],
  ['batch', 'batch_size', 'num_rows', 'bs'],
  ['splits', 'row_splits', 'split', 'offsets'],
  ['row_lengths', 'lengths'],
  ['split_num', 'splits', 'num_splits'],
  ['shards', 'nshards', 'num_shards', 'num_of_shards', 'shard_num', 'shard_count', 'ps', 'ps_num', 'num_ps'],
  ['shard_ids', 'shard_indices', 'indices'],
  ['workers', 'num_workers', 'world_size', 'ranks'],
  ['threshold', 'default_threshold', 'occurrence_threshold', 'default_occurrence_threshold'],
  ['concurrency_level', 'concurrency', 'concurrency_lvl'],
  ['distinct_keys', 'num_keys', 'key_count'],
  ['distinct_fids', 'num_fids', 'fid_count'],
  ['capacity', 'cap', 'max_size'],
  ['r', 'range', 'fixed_range'],
  ['count', 'draws', 'n', 'dim', 'size', 'length', 'num_values'],
  ['draws', 'count', 'n', 'num_draws'],
  ['minval', 'min', 'low', 'lower', 'min_value', 'a'],
  ['maxval', 'max', 'high', 'upper', 'max_value', 'b'],
  ['almost_equal', 'nearly_equal', 'near'],
  ['l2_norm_square', 'l2_norm_squared', 'squared_norm', 'sq_norm'],
  ['neg_weight', 'negative_weight', 'neg_w'],
  ['label', 'labels', 'y'],
  ['logit', 'logits', 'pred'],
  ['clip_norm', 'max_norm', 'norm'],
  ['global_norm', 'norm', 'use_norm'],
  ['tensors', 'grads', 'inputs', 'list'],
  ['matrix_diagonal', 'diagonal', 'diag'],
  ['p', 'root', 'order', 'exponent'],
  ['damping', 'eps', 'epsilon'],
  ['epsilon', 'eps'],
  ['global_step', 'step', 'global_steps', 'steps'],
  ['end', 'end_learning_rate', 'final', 'end_lr'],
  ['initial', 'initial_learning_rate', 'initial_lr', 'start', 'lr'],
  ['accumulator', 'initial_accumulator_value', 'initial_accumulator'],
  ['initial_accumulator_value', 'init_accum', 'initial_accum', 'accumulator'],
  ['l2_regularization_strength', 'l2', 'lambda', 'l2_strength'],
  ['l1_regularization_strength', 'l1', 'l1_strength'],
  ['weight_decay_factor', 'weight_decay', 'wd', 'decay'],
  ['weight_decay', 'wd', 'weight_decay_factor'],
  ['lambda', 'lambda_', 'dc_lambda'],
  ['latest', 'latest_w', 'current', 'newest'],
  ['time', 'timestamp', 'update_time', 'ts', 'time_sec', 'update_time_sec', 'req_time'],
  ['evict_at', 'evict_time', 'now', 'max_ts'],
  ['expire_days', 'expire_time', 'ttl_days', 'default_expire_time', 'expire'],
  ['slot_expire_time', 'slot_expire_time_config', 'slot_expire_times', 'expire_times'],
  ['default', 'default_expire_time', 'default_days'],
  ['ops', 'operations', 'calls', 'sequence', 'steps', 'actions'],
  ['op', 'operation', 'call', 'method', 'name', 'do'],
  ['entries', 'rows', 'items', 'initial_rows'],
  ['assign', 'write', 'set'],
  ['assign_add', 'add', 'adds'],
  ['base', 'optimizer', 'opt', 'base_optimizer', 'inner'],
  ['cases', 'examples', 'tests', 'rows', 'samples', 'table'],
  ['allocs', 'allocations', 'sizes', 'requests'],
  ['tables', 'dims', 'table_dims', 'slots'],
  ['dims', 'embedding_dims', 'slice_dims', 'split_dims', 'tables'],
  ['num_of_shards', 'shard_num', 'n', 'num_splits'],
  ['basename', 'base', 'prefix', 'path'],
  ['sets', 'cases'],
  ['last_update_ts_sec', 'timestamp', 'time', 'last_update', 'update_time', 'ts'],
  ['num', 'x', 'w', 'value', 'weight', 'values', 'weights', 'embedding'],
  ['adagrad_norm', 'norm'],
  ['num_entries', 'entries', 'size', 'count'],
  ['table_name', 'name', 'table'],
  ['payload_hex', 'payload', 'hex', 'bytes_hex', 'entry_hex'],
  ['record_hex', 'record', 'hex', 'file_hex'],
  ['name_suffix', 'suffix', 'name'],
  ['layouts_in_name_order', 'layouts', 'outputs'],
  ['embeddings_after', 'embeddings'],
  // Results.
  ['decoded', 'roundtrip', 'restored'],
  ['quantized', 'forward'],
  ['forward', 'y', 'shown'],
  ['fill', 'w', 'row', 'weights', 'lookup'],
  ['lookup', 'w', 'row', 'rows', 'embedding', 'embeddings', 'lookup_after', 'values'],
  ['restored', 'lookup_after_restore', 'restored_rows', 'after_restore'],
  ['lookup_after_restore', 'restored', 'lookup'],
  ['lookup_after_each', 'lookup_each', 'lookup_each_step', 'rows_after_each'],
  ['elements', 'num_elements', 'element_count', 'size', 'count'],
  ['returned', 'old_counts', 'returns'],
  ['get_after', 'counts', 'count_after'],
  ['passed_rows', 'passed', 'pass', 'admitted', 'rows'],
  ['inserted', 'admitted', 'passed', 'num_inserted'],
  ['files_per_save', 'num_files', 'files'],
  ['insert_dropped', 'dropped', 'num_dropped', 'insert_returned'],
  ['steal_sorted', 'stolen', 'steal', 'stolen_ids', 'keys'],
  ['size_after_steal', 'size', 'size_after'],
  ['get_and_clear_count', 'count', 'num_keys', 'size'],
  ['buckets', 'num_buckets'],
  ['entries', 'slots', 'num_entries'],
  ['locks', 'num_locks'],
  ['u32', 'packed', 'address'],
  ['value_gradient', 'grad', 'gradient', 'values_grad', 'input_gradient', 'd_values'],
  ['logit_grad', 'grad', 'gradient', 'grad_logit'],
  ['embedding_gradients', 'embedding_gradient', 'grads', 'gradient', 'grad_embeddings'],
  ['rowids', 'row_ids', 'value_rowids'],
  ['normed', 'merged', 'normalized', 'row_split'],
  ['mask', 'seq_mask'],
  ['splits', 'parts', 'pieces'],
  ['positions', 'pos'],
  ['shard_sizes', 'sizes', 'counts', 'split_sizes'],
  ['index_mapping', 'mapping', 'index_map', 'id_to_index'],
  ['clipped', 'grads', 'tensors'],
  ['stored_step', 'step', 'last_step', 'global_step'],
  ['scale_end', 'scale'],
  ['grads', 'grad', 'gradients'],
  ['nshards', 'shards', 'counts', 'num_shards'],
  ['ok', 'valid', 'accepted'],
  ['error', 'error_starts_with', 'error_contains', 'message', 'raises', 'throws'],
  ['packed', 'flat', 'concat'],
  ['size_vector', 'sizes', 'lengths'],
  ['combined_component_before_each_step', 'combined'],
  ['norm', 'accum', 'accumulator', 'n', 'state', 'acc'],
  ['accum', 'accumulator', 'norm', 'acc', 'state'],
  ['n', 'accumulator', 'accum', 'norm', 'momentum', 'state', 'velocity'],
  ['m', 'momentum', 'first_moment', 'mean'],
  ['v', 'second_moment', 'variance', 'velocity'],
  ['vhat', 'v_hat', 'max_v'],
  ['zero', 'z', 'linear'],
  ['grad_square_sum', 'accum', 'norm', 'n', 'accumulator', 'sum_of_squares'],
  ['var', 'w', 'variable', 'param', 'value', 'weight'],
  ['c', 'count', 'counter'],
];

/** Of a case and its tolerance. */
export const CASE_NAMES: readonly (readonly string[])[] = [
  ['module', 'mod', 'component', 'group'],
  ['case', 'name', 'case_name', 'title', 'test'],
  ['input', 'inputs', 'given', 'args', 'arguments', 'in', 'params'],
  ['expected', 'expect', 'want', 'wanted', 'out', 'output', 'outputs', 'result', 'results', 'answer'],
  ['tolerance', 'tol', 'tolerances', 'within'],
  ['source_test', 'source', 'origin', 'upstream_test', 'from'],
  ['note', 'notes', 'comment', 'description', 'why'],
  ['exact', 'equal', 'bitwise'],
  ['abs', 'atol', 'absolute', 'abs_tol', 'abs_tolerance', 'delta'],
  ['rel', 'rtol', 'relative', 'rel_tol', 'rel_tolerance'],
  ['ulp', 'ulps', 'max_ulp'],
  ['abs_state', 'atol_state', 'state_abs'],
  ['abs_per_case', 'abs_each', 'atol_per_case', 'abs_per_entry'],
  ['ratio_between', 'ratio', 'ratio_range'],
];

/** Names that are not the singular of another. */
const EXACT: ReadonlyMap<string, readonly string[]> = new Map([['step', ['global_step', 'global_steps']]]);

/** Words for the one thing that came out. */
const RESULT = 'out output outputs result results expected want answer value values got returns'.split(' ');

const FILLERS = new Set(['of', 'the', 'per', 'each', 'in', 'a']);
const firstOf = (rows: readonly (readonly string[])[]): ReadonlyMap<string, string> =>
  new Map(rows.flatMap((row) => row.map((word) => [word, row[0]!])));
const ALONE = firstOf(WORDS);
const WITHIN = firstOf([...WORDS_WITHIN, ...WORDS]);

const singular = (word: string): string => (/[^s]s$/.test(word) ? word.slice(0, -1) : word);

/** `numOfShards` as `num_of_shards`. */
export const snake = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[\s-]+/g, '_')
    .toLowerCase();

/** Equal for names that say the same in other words. */
function signature(name: string): string {
  const words = snake(name)
    .replace(/learning_rate/g, 'learningrate')
    .split('_')
    .filter((word) => word !== '');
  const one = (meanings: ReadonlyMap<string, string>) => (word: string) =>
    meanings.get(singular(word)) ?? singular(word);
  if (words.length === 1) return one(ALONE)(words[0]!);
  const kept = words.filter((word) => !FILLERS.has(word)).map(one(WITHIN));
  return kept.sort().join(' ');
}

/** The name of `known` that `name` means, or undefined; names in `taken` stand for themselves and are passed over. */
export function knownName(
  name: string,
  known: readonly string[],
  { rows = NAMES, taken = [] }: { rows?: readonly (readonly string[])[]; taken?: readonly string[] } = {},
): string | undefined {
  if (known.includes(name)) return name;
  const free = known.filter((one) => !taken.includes(one));
  const exact = EXACT.get(name)?.find((one) => free.includes(one));
  if (exact !== undefined) return exact;
  const spelt = free.find((one) => snake(one) === snake(name));
  if (spelt !== undefined) return spelt;
  const said = signature(name);
  const same = free.find((one) => signature(one) === said);
  if (same !== undefined) return same;
  for (const row of rows) {
    if (!row.some((other) => signature(other) === said)) continue;
    const meant = row.find((other) => free.includes(other));
    const spoken = meant ?? free.find((one) => row.some((other) => signature(other) === signature(one)));
    if (spoken !== undefined) return spoken;
  }
  return undefined;
}

/** Whether a name says no more than that it is the result. */
export const meansResult = (name: string): boolean => RESULT.includes(snake(name));
