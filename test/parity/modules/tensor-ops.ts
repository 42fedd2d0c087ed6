/** @file Cases of the ops that split, reorder, unique and gather (src/tensor/ops). */
import {
  fusedGatherEmbeddingsByInput,
  fusedGatherEmbeddingsByInputGradient,
  gatherEmbeddingsByInput,
  gatherEmbeddingsByInputGradient,
  mapIdToEmbedding,
  mapIdToEmbeddingGradient,
} from '../../../src/tensor/ops/gather-embeddings.js';
import { fusedReorderByIndices, reorderByIndices } from '../../../src/tensor/ops/reorder-by-indices.js';
import {
  raggedSplitByIndices,
  splitByIndices,
  splitByIndicesGradient,
} from '../../../src/tensor/ops/split-by-indices.js';
import {
  fillWithOffsetMap,
  fillWithOffsetMapGradient,
  finalizeSharedTensor,
  uniqueKeyWithValueAndOffset,
} from '../../../src/tensor/ops/unique-key.js';
import { Tensor } from '../../../src/tensor/tensor.js';
import { fieldsOf, orError, type ParityCase, type ParityHandlers, UnknownForm } from '../case.js';
import { f32, i32, i64, ids, list, ones, ragged } from '../values.js';

function split({ input }: ParityCase) {
  const given = fieldsOf(input, ['indices', 'values', 'num_splits'], ['output_gradients']);
  const indices = i64(given.indices);
  const values = f32(given.values);
  const parts = splitByIndices(indices, values, given.num_splits as number);
  const grads = given.output_gradients;
  if (grads !== undefined && grads !== 'ones' && !Array.isArray(grads)) throw new UnknownForm('gradients are unknown');
  const outs = Array.isArray(grads) ? grads.map(f32) : parts.map((part) => ones(part.shape));
  return { splits: parts, gradient: splitByIndicesGradient(indices, values, outs) };
}

function raggedSplit({ input }: ParityCase) {
  const given = fieldsOf(input, ['indices', 'rows', 'num_splits']);
  return orError(() => {
    return raggedSplitByIndices(i64(given.indices), ragged('int64', given.rows), given.num_splits as number);
  });
}

function reorder({ input }: ParityCase) {
  const given = fieldsOf(input, ['input', 'shard_ids', 'num_of_shards']);
  const made = reorderByIndices(i64(given.input), i32(given.shard_ids).data, given.num_of_shards as number);
  return { output: made.output, shard_sizes: made.shardSizes };
}

function fusedReorder({ input }: ParityCase) {
  const given = fieldsOf(input, ['inputs', 'num_of_shards', 'dims'], ['rank0_empty']);
  const made = fusedReorderByIndices(list(given.inputs, ids), {
    dims: given.dims as number[],
    numOfShards: given.num_of_shards as number,
    ...(given.rank0_empty === undefined ? {} : { rank0Empty: given.rank0_empty as boolean }),
  });
  return {
    output: made.output,
    shard_sizes: made.shardSizes,
    sharded_slot_sizes: made.shardedSlotSizes,
    embedding_offset_sizes: made.embeddingOffsetSizes,
    embedding_offsets: made.embeddingOffsets,
  };
}

function uniqueKey({ input }: ParityCase) {
  const given = fieldsOf(input, ['key', 'dims']);
  return orError(() => {
    const made = uniqueKeyWithValueAndOffset(ragged('int64', given.key), given.dims as number[]);
    return {
      unique_key: made.uniqueKey,
      value_offset: made.valueOffset,
      buffer_length: made.valueBuffer!.buffer.length,
    };
  });
}

function fill({ input }: ParityCase) {
  const given = fieldsOf(input, ['key', 'dims', 'pos'], ['value', 'value_length', 'buffer_gradient']);
  const dims = given.dims as number[];
  const { valueOffset, valueBuffer } = uniqueKeyWithValueAndOffset(ragged('int64', given.key), dims);
  const pos = ragged('int64', given.pos);
  const value = given.value === undefined ? new Float32Array(given.value_length as number) : f32(given.value).data;
  return orError(() => {
    const handle = fillWithOffsetMap(pos, value, valueOffset, valueBuffer!, dims);
    const gradient = given.buffer_gradient;
    return {
      buffer: finalizeSharedTensor([handle, handle]),
      ...(gradient === undefined
        ? {}
        : { value_gradient: fillWithOffsetMapGradient(pos, f32(gradient).data, valueOffset, dims) }),
    };
  });
}

function mapId({ input }: ParityCase) {
  const given = fieldsOf(input, ['ids', 'input'], ['embeddings', 'gradient']);
  const sources = list(given.ids, i64);
  return orError(() => ({
    ...(given.embeddings === undefined
      ? {}
      : { output: mapIdToEmbedding(sources, list(given.embeddings, f32), i64(given.input)) }),
    ...(given.gradient === undefined
      ? {}
      : { embedding_gradients: mapIdToEmbeddingGradient(sources, i64(given.input), f32(given.gradient)) }),
  }));
}

/** Rows of the ids, where each input is among them, and the gradient: by the inputs, or by a mapping made before. */
function gather({ input }: ParityCase) {
  const given = fieldsOf(input, ['ids'], ['input', 'embeddings', 'gradient', 'index_mapping']);
  const source = i64(given.ids);
  const zeros = (dim: number) => new Tensor('float32', [source.size, dim], new Float32Array(source.size * dim));
  if (given.input === undefined && given.index_mapping === undefined) throw new UnknownForm('the case has no input');
  return orError(() => {
    const positions = given.input === undefined ? undefined : i64(given.input);
    const rows = given.embeddings === undefined ? undefined : f32(given.embeddings);
    const found = positions === undefined ? undefined : gatherEmbeddingsByInput(source, rows ?? zeros(1), positions);
    const mapping = found?.indexMapping ?? i32(given.index_mapping);
    return {
      ...(found === undefined || rows === undefined ? {} : { output: found.output }),
      ...(given.gradient === undefined
        ? {}
        : {
            embedding_gradients: gatherEmbeddingsByInputGradient(
              source,
              gatherGradient(given.gradient, mapping),
              mapping,
            ),
          }),
      index_mapping: mapping,
    };
  });
}

/** A nested list, or `<x> everywhere, dim <d>`. */
function gatherGradient(value: unknown, positions: Tensor): Tensor<'float32'> {
  if (Array.isArray(value)) return f32(value);
  const match = /^(-?[\d.]+) everywhere, dim (\d+)$/.exec(String(value));
  if (match === null) throw new UnknownForm(`gradient ${value}`);
  const dim = Number(match[2]);
  return new Tensor(
    'float32',
    [...positions.shape, dim],
    new Float32Array(positions.size * dim).fill(Number(match[1])),
  );
}

const repeated = (values: Int32Array, times: number): Int32Array =>
  Int32Array.from({ length: values.length * times }, (_, i) => values[i % values.length]!);

function fusedGather({ input }: ParityCase) {
  const given = fieldsOf(
    input,
    ['embedding_dims', 'offsets'],
    ['fused_embeddings', 'fused_size', 'grads', 'repeat', 'scale'],
  );
  const dims = given.embedding_dims as number[];
  const offsets = list(given.offsets, (item) => i32(item).data);
  if (given.grads === undefined) {
    const times = (given.repeat ?? offsets.map(() => 1)) as number[];
    const fused = f32(given.fused_embeddings).data;
    const whole = fusedGatherEmbeddingsByInput(
      fused,
      offsets.map((item, m) => repeated(item, times[m]!)),
      dims,
    );
    const periods = whole.map((tensor, m) => periodOf(tensor, offsets[m]!.length * dims[m]!, dims[m]!));
    return { one_period: periods, out: whole };
  }
  const times = (given.repeat ?? 1) as number;
  const grads = list(given.grads, f32).map((grad) => {
    const data = Float32Array.from({ length: grad.size * times }, (_, i) => grad.data[i % grad.size]!);
    return new Tensor('float32', [grad.shape[0]! * times, grad.shape[1]!], data);
  });
  const sums = fusedGatherEmbeddingsByInputGradient(
    given.fused_size as number,
    grads,
    offsets.map((item) => repeated(item, times)),
    dims,
    (given.scale ?? 1) as number,
  );
  return { one_period: sums.map((x) => x / times), out: sums };
}

/** The first `size` values; the rest must repeat them. */
function periodOf(tensor: Tensor<'float32'>, size: number, dim: number): Tensor<'float32'> {
  tensor.data.forEach((x, i) => {
    if (x !== tensor.data[i % size]) throw new Error(`position ${i} differs from one period before`);
  });
  return new Tensor('float32', [size / dim, dim], tensor.data.slice(0, size));
}

export const handlers: ParityHandlers = {
  split_by_indices: split,
  ragged_split_by_indices: raggedSplit,
  reorder_by_indices: reorder,
  fused_reorder_by_indices: fusedReorder,
  unique_key_with_value_and_offset: uniqueKey,
  fill_with_offset_map: fill,
  map_id_to_embedding: mapId,
  gather_embeddings_by_input: gather,
  fused_gather_embeddings_by_input: fusedGather,
};
