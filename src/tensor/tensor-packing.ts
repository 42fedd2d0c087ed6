/**
 * @file Packs tensors whose sizes are not known beforehand: tensor_utils over placeholders.
 *
 * Names, dtypes and shapes are given once, with unknown sizes left open; then every set of values is packed to the same
 * number of vectors, and unpacked by whoever has the same placeholders.
 */
import { MonolithError } from '../base/errors.js';
import { type PartialShape, StaticReshapeNBuilder } from './static-reshape.js';
import { allocateData, type DType, sizeOfShape, Tensor } from './tensor.js';
import {
  type KeyedShapes,
  type KeyedTensors,
  mergeDicts,
  type Packer,
  packTypedKeyedTensors,
  splitTensorsWithType,
  unpackPackedTensors,
} from './tensor-utils.js';

/** A tensor to come. One size may be unknown: null, or -1. */
export interface TensorPlaceholder {
  readonly dtype: DType;
  readonly shape: PartialShape;
}

/**
 * Packs tensors whose sizes are known only when they come.
 *
 * ```ts
 * const packing = new TensorPacking({
 *   ids: { dtype: 'int64', shape: [null] },
 *   x: { dtype: 'float32', shape: [null, 4] },
 * });
 * const list = packing.pack({ ids, x }); // x, ids, counts and sizes
 * packing.unpack(list); // { x, ids } of the same shapes
 * ```
 */
export class TensorPacking {
  readonly #placeholders: ReadonlyMap<string, TensorPlaceholder>;
  /** Shapes by group, in the order groups are packed. */
  readonly #shapes: readonly KeyedShapes[];

  constructor(placeholders: Readonly<Record<string, TensorPlaceholder>>) {
    this.#placeholders = new Map(Object.entries(placeholders));
    if (this.#placeholders.size === 0) throw new MonolithError('ML_PACK', { reason: 'there are none' });
    const empty = [...this.#placeholders].map(([key, placeholder]) => [key, smallest(placeholder)] as const);
    this.#shapes = splitTensorsWithType(Object.fromEntries(empty)).map((group) =>
      Object.fromEntries(Object.keys(group).map((key) => [key, placeholders[key]!.shape])),
    );
    // Refuses shapes that cannot be unpacked, such as two unknown sizes, in the words of the reshape.
    const builder = new StaticReshapeNBuilder();
    for (const [key, tensor] of empty) builder.add(tensor, placeholders[key]!.shape);
    builder.build();
  }

  /** One vector per dtype, in order of its name, then one of counts and sizes. */
  pack(feeds: KeyedTensors, packer?: Packer): Tensor[] {
    for (const [key, placeholder] of this.#placeholders) check(key, placeholder, feeds[key]);
    const odd = Object.keys(feeds).find((key) => !this.#placeholders.has(key));
    if (odd !== undefined) throw new MonolithError('ML_PACK', { reason: `there is no placeholder ${odd}` });
    return packTypedKeyedTensors(splitTensorsWithType(feeds), packer);
  }

  /** What was packed, as views of the vectors. */
  unpack(packedList: readonly Tensor[]): Record<string, Tensor> {
    return mergeDicts(unpackPackedTensors(this.#shapes, packedList));
  }
}

/** A tensor that fits: one for the unknown size. */
function smallest({ dtype, shape }: TensorPlaceholder): Tensor {
  const dims = (shape ?? []).map((dim) => (isUnknown(dim) ? 1 : dim!));
  return new Tensor<DType>(dtype, dims, allocateData(dtype, sizeOfShape(dims)));
}

function check(key: string, { dtype, shape }: TensorPlaceholder, tensor: Tensor | undefined): void {
  const wanted = `${dtype} [${shape?.map((dim) => (isUnknown(dim) ? '?' : dim))}]`;
  const fits =
    tensor?.dtype === dtype &&
    tensor.rank === shape?.length &&
    shape.every((dim, i) => isUnknown(dim) || dim === tensor.shape[i]);
  if (fits) return;
  const found = tensor === undefined ? 'missing' : `${tensor.dtype} [${tensor.shape}]`;
  throw new MonolithError('ML_PACK', { reason: `${key} is ${found}, and its placeholder ${wanted}` });
}

const isUnknown = (dim: number | null): boolean => dim === null || dim === -1;
