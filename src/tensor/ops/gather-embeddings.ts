/**
 * @file Embeddings of ids by position. Mirrors distribution_ops map_id_to_embedding, gather_embeddings_by_input and
 * fused_gather_embeddings_by_input, with their gradients.
 */
import { MonolithError } from '../../base/errors.js';
import { Tensor } from '../tensor.js';
import { check, checkCount, matrixShape, refuse } from './check.js';

type Ids = Tensor<'int64'>;
type Floats = Tensor<'float32'>;

/** Row of each id among all sources, one after the other; the first occurrence of an id wins. */
function rowOfIds(ids: readonly Ids[]): Map<bigint, number> {
  const rows = new Map<bigint, number>();
  let row = 0;
  for (const source of ids) {
    for (const id of source.data) {
      if (!rows.has(id)) rows.set(id, row);
      row++;
    }
  }
  return rows;
}

function rowsOf(input: Ids, rows: ReadonlyMap<bigint, number>): Int32Array {
  return Int32Array.from({ length: input.size }, (_, i) => {
    const row = rows.get(input.data[i]!);
    if (row === undefined) throw new MonolithError('ML_MAP_ID', { id: input.data[i] });
    return row;
  });
}

/**
 * The embedding of every id of `input`: shape of `input` with the width of the embeddings at the end. Ids and
 * embeddings come in k sources.
 */
export function mapIdToEmbedding(ids: readonly Ids[], embeddings: readonly Floats[], input: Ids): Floats {
  if (ids.length !== embeddings.length) {
    throw new MonolithError('ML_MAP_LISTS', { ids: ids.length, embeddings: embeddings.length });
  }
  const op = 'mapIdToEmbedding';
  check(ids.length > 0, op, 'there is no source');
  const dim = matrixShape(op, 'embeddings', embeddings[0]!)[1];
  const pieces = ids.flatMap((source, k) => {
    const [rows, width] = matrixShape(op, 'embeddings', embeddings[k]!);
    if (rows !== source.size) throw new MonolithError('ML_GATHER_DIM', { embeddings: rows, ids: source.size });
    check(width === dim, op, `embeddings are ${dim} and ${width} wide`);
    return Array.from({ length: rows }, (_, r) => embeddings[k]!.data.subarray(r * dim, (r + 1) * dim));
  });
  const out = new Float32Array(input.size * dim);
  rowsOf(input, rowOfIds(ids)).forEach((row, i) => {
    out.set(pieces[row]!, i * dim);
  });
  return new Tensor('float32', [...input.shape, dim], out);
}

/** Gradient of mapIdToEmbedding: per source and id the sum over the positions that used it. */
export function mapIdToEmbeddingGradient(ids: readonly Ids[], input: Ids, grad: Floats): Floats[] {
  const dim = widthOf('mapIdToEmbeddingGradient', input, grad);
  const total = ids.reduce((count, source) => count + source.size, 0);
  const sums = sumRows(grad.data, rowsOf(input, rowOfIds(ids)), total, dim);
  let from = 0;
  return ids.map((source) => {
    const part = sums.slice(from * dim, (from + source.size) * dim);
    from += source.size;
    return new Tensor('float32', [source.size, dim], part);
  });
}

export interface Gathered {
  readonly output: Floats;
  /** Position in `ids` of every entry of the input. */
  readonly indexMapping: Tensor<'int32'>;
}

/** The embeddings of the ids of an input, and where each was found. */
export function gatherEmbeddingsByInput(ids: Ids, embeddings: Floats, input: Ids): Gathered {
  const [rows, dim] = matrixShape('gatherEmbeddingsByInput', 'embeddings', embeddings);
  if (rows !== ids.size) throw new MonolithError('ML_GATHER_DIM', { embeddings: rows, ids: ids.size });
  const mapping = rowsOf(input, rowOfIds([ids]));
  const out = new Float32Array(input.size * dim);
  mapping.forEach((row, i) => {
    out.set(embeddings.data.subarray(row * dim, (row + 1) * dim), i * dim);
  });
  return {
    output: new Tensor('float32', [...input.shape, dim], out),
    indexMapping: new Tensor('int32', input.shape, mapping),
  };
}

/** Gradient of gatherEmbeddingsByInput; ids that were not used get zeros. */
export function gatherEmbeddingsByInputGradient(ids: Ids, grad: Floats, indexMapping: Tensor<'int32'>): Floats {
  const dim = widthOf('gatherEmbeddingsByInputGradient', indexMapping, grad);
  return new Tensor('float32', [ids.size, dim], sumRows(grad.data, indexMapping.data, ids.size, dim));
}

/** Output m has a row fused[offset .. offset + dims[m]) for each of offsets[m]. */
export function fusedGatherEmbeddingsByInput(
  fused: Float32Array,
  offsets: readonly Int32Array[],
  dims: readonly number[],
): Floats[] {
  checkFusedGather(fused.length, offsets, dims);
  return offsets.map((list, m) => {
    const dim = dims[m]!;
    const out = new Float32Array(list.length * dim);
    list.forEach((offset, i) => {
      out.set(fused.subarray(offset, offset + dim), i * dim);
    });
    return new Tensor('float32', [list.length, dim], out);
  });
}

/**
 * Gradient of fusedGatherEmbeddingsByInput: a vector of `size` with scale * gradient row added at each offset, in
 * order.
 */
export function fusedGatherEmbeddingsByInputGradient(
  size: number,
  grads: readonly Floats[],
  offsets: readonly Int32Array[],
  dims: readonly number[],
  scale = 1,
): Float32Array {
  checkFusedGather(size, offsets, dims, grads);
  const factor = Math.fround(scale);
  const out = new Float32Array(size);
  offsets.forEach((list, m) => {
    const dim = dims[m]!;
    const grad = grads[m]!.data;
    list.forEach((offset, i) => {
      for (let c = 0; c < dim; c++) out[offset + c] = out[offset + c]! + Math.fround(factor * grad[i * dim + c]!);
    });
  });
  return out;
}

export function checkFusedGather(
  size: number,
  offsets: readonly Int32Array[],
  dims: readonly number[],
  grads?: readonly Floats[],
): void {
  const op = 'fusedGatherEmbeddingsByInput';
  checkCount(op, 'the size', size);
  check(dims.length === offsets.length, op, `there are ${dims.length} dims for ${offsets.length} offset lists`);
  check(grads === undefined || grads.length === dims.length, op, `there are ${dims.length} dims for other gradients`);
  offsets.forEach((list, m) => {
    const dim = dims[m]!;
    checkCount(op, `dim ${m}`, dim, 1);
    const found = grads?.[m]?.size ?? list.length * dim;
    check(found === list.length * dim, op, `gradient ${m} has ${found} values, not ${list.length * dim}`);
    for (const offset of list) {
      if (offset < 0 || offset + dim > size) refuse(op, `offset ${offset} of list ${m} lies outside ${size} values`);
    }
  });
}

function widthOf(op: string, input: Tensor, grad: Floats): number {
  const dim = grad.shape.at(-1) ?? 0;
  check(grad.size === input.size * dim, op, `the gradient has shape [${grad.shape}] for [${input.shape}] positions`);
  return dim;
}

function sumRows(grad: Float32Array, rows: Int32Array, count: number, dim: number): Float32Array {
  const sums = new Float32Array(count * dim);
  rows.forEach((row, i) => {
    if (row < 0 || row >= count) refuse('gather gradient', `row ${row} is not among ${count}`);
    for (let c = 0; c < dim; c++) sums[row * dim + c] = sums[row * dim + c]! + grad[i * dim + c]!;
  });
  return sums;
}
