/** @file Cases of parity files in other words than those of the files: other names, other shapes of the same. */
import type { Fields } from './case.js';

/** Cases of the files in other words: [module, input, expected]. */
export const OTHER_WORDS: readonly (readonly [string, Fields, unknown])[] = [
  ['opt.sgd', { w0: 0, grad_each_step: 1, learning_rate: 0.1, num_steps: 3 }, { w_last: [-0.3] }],
  ['opt.sgd', { dim: 2, grad: [1, 2], lr: 0.1 }, { weights: [-0.1, -0.2] }],
  [
    'opt.adagrad',
    { initial_accumulator_value: 1, w0: [0, 0], grad_each_step: [1, 2], lr: [0.1], steps: 1 },
    { w_last: [-0.07071067, -0.08944272], accum_last: [2, 5] },
  ],
  [
    'opt.adam',
    { config: {}, w0: [0, 0], steps: 2, grad_each_step: [10, 1], lr: [0.01] },
    {
      w_each_step: [
        [-0.00990099, -0.00909091],
        [-0.0198306, -0.01842895],
      ],
      first_m: [1, 0.1],
      m_after_1: [1, 0.1],
    },
  ],
  [
    'opt.rmspropv2',
    {
      w0: [0, 0],
      grads: [
        [10, 1],
        [10, 1],
      ],
      lr: 0.01,
    },
    { w_final: [-0.0158549, -0.0092045] },
  ],
  [
    'gather_embeddings_by_input',
    { ids: [1, 2, 4], input: [[4, 1]], embeddings: [[1], [2], [4]] },
    { indexMapping: [[2, 0]], out: [[[4], [1]]] },
  ],
  [
    'gather_embeddings_by_input',
    { ids: [1, 2, 4], index_mapping: [2, 0, 2], grads: [[1], [2], [3]] },
    { embeddingGradients: [[2], [0], [4]] },
  ],
  ['gather_embeddings_by_input', { keys: [7, 9], query: [9, 7, 9] }, { mapping: [1, 0, 1] }],
  ['float_compressor', { compressor: 'fp16', value: [0.5] }, { roundtrip: 0.5, sizeBytes: 2 }],
  ['float_compressor', { type: { fixed_r8: { r: 5 } }, values: [100] }, [4.9609375]],
  ['fake_quantizer', { range: 5, x: 3.5 }, { quantized: 3.515625 }],
  ['hash_net_quantizer', { step_size: 100, amplitude: 0.1, num: 1, grad: 1, step: 100 }, { grad: 0.035840667 }],
  ['learning_rate', { initialLr: 1, decaySteps: 10, endLr: 0, step: 5 }, { lr: 0.5 }],
  ['reduce', { rowIds: [0, 0, 2], value: [[1], [2], [3]], batchSize: 3, combiner: 'sum' }, { output: [[3], [0], [3]] }],
  ['combiner', { combiner: 'reduce_mean', rowSplits: [0, 2], embeddings: [[1], [3]] }, { out: [[2]] }],
  ['gen_seq_mask', { row_splits: [0, 1], maxLen: 2 }, { mask: [[1, 0]] }],
  ['fid', { version: 2, slots: 1, signatures: 100 }, { fid: '281474976710756' }],
  [
    'dense.rmsprop',
    { w: 0.1, grad_each_step: 0.12, lr: 0.1, wd: 1, beta1: 0.9, beta2: 0.9, eps: 0.1, useV2: true },
    { m_last: 0.06875, var_after_1: 0.03125, v: 0.0484 },
  ],
  ['linalg', { squared_norm: [3, 4] }, { squared_norm: 25 }],
  ['clip_by_global_norm', { grads: [[3], [4]], max_norm: 1 }, { clipped: [[0.6], [0.8]], norm: 5 }],
  ['touched_key_set', { cap: 10, operations: [{ operation: 'insert', keys: [1, 2] }] }, { dropped: 0 }],
  ['sharded_table', { num_ps: 2, dim: 1, rate: 1, keys: [1, 2], gradients: [[1], [2]] }, { rows: [[-1], [-2]] }],
  ['opt.sgd', { w: [1], grads: [[1], [2]], lrs: [0.1, 0.2] }, { w_after: [0.5] }],
  [
    'opt.momentum',
    { w0: [0, 0], grad_each_step: [10, 1], n_steps: 2, lr: [0.01] },
    {
      trajectory: [
        [-0.1, -0.01],
        [-0.29, -0.029],
      ],
      w_last: [-0.29, -0.029],
      n_first: [-0.1, -0.01],
    },
  ],
  ['opt.ftrl', { w0: [0], steps: 2, grad_each_step: [10], lr: 0.01 }, { w_steps: [[-0.009995], [-0.0170643]] }],
  [
    'opt.dc',
    {
      base: 'adadelta',
      lambda: 0.1,
      w0: [0],
      grad_each_step: [10],
      lr: 0.01,
      latest_each_step: [[0.1], [0]],
      steps: 2,
    },
    { w_last: [-0.0065548] },
  ],
  [
    'opt.combined',
    { optimizers: [{ adagrad: { dim: 1, initial_accumulator_value: 1 } }], grad: [1], learning_rates: [1] },
    { w_after_step: [-0.70710677] },
  ],
  ['opt.stochastic_rounding', { seed: [0, 1], n: 2 }, { draws: [4.19095159e-6, 0.0754371285] }],
  ['opt.stochastic_rounding', { x: 0.1, p: 0.4 }, { rounded: 0.1000366211 }],
  ['initializer', { type: 'uniform', seed: 5489, low: -0.05, high: 0.05, n: 1 }, { values: [0.0314723663] }],
  [
    'learning_rate',
    { type: 'polynomial_decay', initialLr: 1, decaySteps: 10, endLr: 0, steps: [0, 5] },
    { learning_rates: [1, 0.5] },
  ],
  ['quantized_entry_accessor', { dim: 1, init: 1, segments: [{ dim: 1, r: 1 }] }, { fill_initial: [0.9921875] }],
  ['block_allocator', { sizes: [10, 12], initial_block: 1024, alignment: 8 }, { second_minus_first: 16 }],
  ['entry_defs', { entry_size: 8, value: 1, timestamp: 1234 }, { timestamp: 1234, first_float: 1 }],
  [
    'hash_table',
    {
      table: { segments: [{ dim: 1, init: 'zeros', opt: 'sgd' }], lr: [1] },
      ops: [{ assign_add: { id: 1, value: [2.5] } }, { op: 'lookup', ids: [1] }],
    },
    { lookups: [[[2.5]]] },
  ],
  [
    'hash_table_ops',
    { table: { dim: 1 }, lr: 1, steps: [{ assign: { ids: [0, 1], values: [[1], [1]] } }, { lookup: [0, 1] }] },
    { results: [[[1], [1]]] },
  ],
  ['hash_table_utils', { num_entries: 10, limit: 2, num_shards: 3 }, { visited_entries: 10 }],
  [
    'multi_hash_table',
    { tables: { slot0: { dim: 1 } }, lr: 1, gradients: { slot0: { ids: [0], grads: [[2]] } } },
    { lookup: { slot0: [[-2]] } },
  ],
  [
    'multi_type_hash_table',
    { tables: { slot0: 1 }, lr: 1, grads: { slot0: { ids: [1], values: [[3]] } }, lookup: { slot0: [1] } },
    { lookup: { slot0: [[-3]] } },
  ],
  [
    'sharded_table',
    { num_ps: 2, dim: 1, lr: 1, ids: [1, 2], grad_each_step: [[1], [2]], steps: 2 },
    { lookup_last: [[-2], [-4]] },
  ],
  ['hash_filter', { capacity: 1000, fid: 5, adds_of_1: 3 }, { returned: [0, 1, 2] }],
  ['hash_filter', { capacity: 1000, id: 5, adds: [2, 1] }, { returned: [0, 2], get_after: [2, 3] }],
  ['sliding_hash_filter', { capacity: 1000, split_num: 5, id: 5, adds: [1, 1] }, { returned: [0, 1] }],
  ['touched_key_set', { capacity: 10, concurrency: 1, insert: [1, 2, 3] }, { stolen: [1, 2, 3] }],
  ['clip_by_global_norm', { values: [[3, 4]], clip_norm: 1 }, { outputs: [[0.6, 0.8]], global_norm: 5 }],
  [
    'static_reshape_n',
    { inputs: [[1, 2, 3, 4]], target_shapes: [[2, 2]] },
    {
      outputs: [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    },
  ],
  ['reorder_by_indices', { ids: [0, 1, 3], shard_indices: [0, 1, 0], shard_num: 2 }, { reordered: [3, 0, 1] }],
  ['unique_key_with_value_and_offset', { keys: [[0, 1, 0]], dims: [2] }, { unique_keys: [[0, 1]], buffer_size: 6 }],
  [
    'fused_gather_embeddings_by_input',
    { fused_embeddings: [1, 2, 3], embedding_dims: [1], embedding_offsets: [[2, 0]] },
    { outputs: [[[3], [1]]] },
  ],
  ['reduce', { op: 'mean', rows: [0, 0, 1], values: [[1], [2], [4]], n_rows: 2 }, { reduced: [[1.5], [4]] }],
  [
    'fused_reduce_sum_and_split',
    {
      row_ids: [0, 0],
      values: [
        [1, 1, 1],
        [2, 2, 1],
      ],
      batch_size: 1,
      split_sizes: [2, 1],
    },
    { outputs: [[[3, 3]], [[2]]] },
  ],
  [
    'fused_sorted_segment_sum',
    {
      segment_ids: [[0, 0]],
      inputs: [
        [
          [1, 1],
          [2, 2],
        ],
      ],
      output_shapes: [[1, 2]],
    },
    { sums: [[[3, 3]]] },
  ],
  ['normalize_merged_split', { merged_splits: [0, 2, 0, 3], sizes: [2, 2] }, { normalized: [0, 2, 5] }],
  ['inbatch_auc_loss', { labels: [1, 0], logits: [0, 0], neg_weight: 1, upstream: 2 }, { logits_grad: [1, -1] }],
  [
    'feature_insight',
    { input_embedding: [[1, 2, 3]], weight: [[1], [1], [1]], segment_sizes: [2, 1] },
    { output: [[3, 3]] },
  ],
  ['fid_counter', { counter: 1, counter_threshold: 1000, step: 1 }, { counter: 2 }],
  ['combiner', { type: 'first_n', n: 2, row_lengths: [1], embeddings: [[1]] }, { combined: [[[1], [0]]] }],
  [
    'feature_slices',
    { kind: 'sum', embeddings: [[1, 2]], row_splits: [0, 1], dims: [1, 1] },
    { outputs: [[[1]], [[2]]] },
  ],
  ['nested_tensors', { structure: { a: 1 }, replacement: 0 }, { replaced: { a: 0 } }],
  ['sharded_files', { basename: 'a/b', files: ['a/b-00000-of-00001'] }, { num_shards: 1 }],
];
