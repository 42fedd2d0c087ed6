/**
 * @file Packs dictionaries of tensors into one vector and back, and groups them by dtype.
 *
 * Mirrors native_training/tensor_utils. Packing copies once, by the packer it is given; unpacking gives views.
 */
import { MonolithError } from '../base/errors.js';
import { RaggedTensor } from './ragged-tensor.js';
import { type PartialShape, StaticReshapeNBuilder } from './static-reshape.js';
import { allocateData, type DataOf, type DType, Tensor } from './tensor.js';

export type KeyedTensors = Readonly<Record<string, Tensor>>;
export type KeyedShapes = Readonly<Record<string, PartialShape>>;
export interface Packed {
  readonly packed: Tensor;
  /** Element count of each tensor, in sorted key order. */
  readonly sizes: Tensor<'int64'>;
}

/** One copy of a pack: `target` has the type and length of `source`. */
export interface Piece {
  readonly source: DataOf<DType>;
  readonly target: DataOf<DType>;
}

/**
 * Where packed vectors come from and how pieces get there: plain arrays here, shared memory and the copy kernel
 * elsewhere.
 */
export interface Packer {
  allocate<D extends DType>(dtype: D, count: number): DataOf<D>;
  copy(pieces: readonly Piece[]): void;
}

export const PLAIN_PACKER: Packer = { allocate: allocateData, copy: (pieces) => pieces.forEach(copyPlain) };

/** Copies one piece in plain JavaScript. */
export function copyPlain({ source, target }: Piece): void {
  if (target instanceof BigInt64Array) target.set(source as BigInt64Array);
  else target.set(source as Float32Array);
}

/** Elements begin..end of `data`, as a view. */
function part<D extends DType>(data: DataOf<D>, begin: number, end: number): DataOf<D> {
  return data.subarray(begin, end) as DataOf<D>;
}

/** A ragged tensor of rank 2 as it is, one of shape [B, 1, None] without its middle level. */
export function maybeSqueeze3dTensor(x: unknown): RaggedTensor {
  if (!(x instanceof RaggedTensor)) throw new MonolithError('ML_RAGGED_INPUT');
  if (x.rank === 2) return x;
  // Every row holds exactly one when the splits count up by one.
  const single = x.rowSplits.data.every((split: number | bigint, r: number) => Number(split) === r);
  if (x.rank === 3 && single && x.values instanceof RaggedTensor) return x.values;
  throw new MonolithError('ML_RAGGED_SHAPE', { rank: x.rank });
}

/** Flattens and concatenates in sorted key order. */
export function packTensors(keyedTensors: KeyedTensors, packer: Packer = PLAIN_PACKER): Packed {
  const keys = Object.keys(keyedTensors).sort();
  const tensors = keys.map((key) => keyedTensors[key]!);
  const dtype = tensors[0]?.dtype;
  if (dtype === undefined) throw new MonolithError('ML_PACK', { reason: 'there are none' });
  const other = tensors.findIndex((tensor) => tensor.dtype !== dtype);
  if (other >= 0) {
    const reason = `${keys[0]} is ${dtype}, but ${keys[other]} is ${tensors[other]!.dtype}`;
    throw new MonolithError('ML_PACK', { reason }, { hint: 'group them with splitTensorsWithType first' });
  }
  const sizes = BigInt64Array.from(tensors, (tensor) => BigInt(tensor.size));
  const data = packer.allocate(dtype, Number(sizes.reduce((sum, size) => sum + size, 0n)));
  let at = 0;
  packer.copy(
    tensors.map((tensor) => {
      at += tensor.size;
      return { source: tensor.data, target: part(data, at - tensor.size, at) };
    }),
  );
  return { packed: Tensor.vector(dtype, data), sizes: Tensor.vector('int64', sizes) };
}

/** The inverse: views of the packed vector under the recorded shapes, of which each may have one unknown dimension. */
export function unpackTensors(keyedShape: KeyedShapes, { packed, sizes }: Packed): Record<string, Tensor> {
  const keys = Object.keys(keyedShape).sort();
  const total = sizes.data.reduce((sum, size) => sum + size, 0n);
  if (keys.length !== sizes.size || Number(total) !== packed.size) {
    const pieces = `${sizes.size} pieces of together ${total}`;
    const reason = `${packed.size} values in ${pieces} do not fit ${keys.length} shapes`;
    throw new MonolithError('ML_PACK', { reason });
  }
  const builder = new StaticReshapeNBuilder();
  let at = 0;
  keys.forEach((key, i) => {
    const end = at + Number(sizes.data[i]);
    builder.add(Tensor.vector(packed.dtype, part(packed.data, at, end)), keyedShape[key]!);
    at = end;
  });
  const { outputs } = builder.build();
  return Object.fromEntries(keys.map((key, i) => [key, outputs[i]!]));
}

/** One dictionary per dtype, in order of the dtype's name, keys sorted. */
export function splitTensorsWithType(keyedTensors: KeyedTensors): Record<string, Tensor>[] {
  const groups = new Map<DType, [string, Tensor][]>();
  for (const key of Object.keys(keyedTensors).sort()) {
    const tensor = keyedTensors[key]!;
    const group = groups.get(tensor.dtype) ?? [];
    group.push([key, tensor]);
    groups.set(tensor.dtype, group);
  }
  return [...groups.keys()].sort().map((dtype) => Object.fromEntries(groups.get(dtype)!));
}

/** The inverse of splitTensorsWithType; of equal keys the last wins. */
export function mergeDicts<T>(dicts: readonly Readonly<Record<string, T>>[]): Record<string, T> {
  return Object.fromEntries(dicts.flatMap((dict) => Object.entries(dict)));
}

/** One packed vector per group, then one int64 vector: the number of tensors of each group, followed by all sizes. */
export function packTypedKeyedTensors(groups: readonly KeyedTensors[], packer: Packer = PLAIN_PACKER): Tensor[] {
  const all = groups.map((group) => packTensors(group, packer));
  const counts = all.map(({ sizes }) => BigInt(sizes.size));
  const vector = BigInt64Array.from([...counts, ...all.flatMap(({ sizes }) => [...sizes.data])]);
  return [...all.map(({ packed }) => packed), Tensor.vector('int64', vector)];
}

/** The inverse of packTypedKeyedTensors; `shapes` has one dictionary per group. */
export function unpackPackedTensors(
  shapes: readonly KeyedShapes[],
  packedList: readonly Tensor[],
): Record<string, Tensor>[] {
  if (packedList.length < 2 || packedList.length !== shapes.length + 1) {
    throw new MonolithError('ML_PACKED_LENGTH', { found: packedList.length, groups: shapes.length });
  }
  const vector = packedList.at(-1)!;
  if (!(vector.data instanceof BigInt64Array)) {
    throw new MonolithError('ML_PACK', { reason: `the vector of sizes is ${vector.dtype}, not int64` });
  }
  const sizes = vector.data;
  let at = shapes.length;
  return shapes.map((keyedShape, g) => {
    const end = at + Number(sizes[g]);
    const own = Tensor.vector('int64', sizes.subarray(at, end));
    at = end;
    return unpackTensors(keyedShape, { packed: packedList[g]!, sizes: own });
  });
}
