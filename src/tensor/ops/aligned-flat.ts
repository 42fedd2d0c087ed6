/** @file Many tensors as one flat vector with aligned pieces. Mirrors the GPU-only aligned_flat_concat and _split. */
import { type Shape, sizeOfShape, Tensor } from '../tensor.js';
import { check } from './check.js';

/** Floats a piece is padded to a multiple of: 64 bytes, one cache line. */
export const ALIGNED_FLOATS = 16;
export const ALIGNED_TENSORS_MAX = 1023;

type Floats = Tensor<'float32'>;

const padded = (size: number): number => Math.ceil(size / ALIGNED_FLOATS) * ALIGNED_FLOATS;

/** One vector of all tensors times `scale`, each padded with zeros to a multiple of ALIGNED_FLOATS. */
export function alignedFlatConcat(tensors: readonly Floats[], scale = 1): Floats {
  checkCountOf('alignedFlatConcat', tensors.length);
  const flat = new Float32Array(tensors.reduce((total, tensor) => total + padded(tensor.size), 0));
  const factor = Math.fround(scale);
  let at = 0;
  for (const { data, size } of tensors) {
    if (factor === 1) flat.set(data, at);
    else for (let i = 0; i < size; i++) flat[at + i] = data[i]! * factor;
    at += padded(size);
  }
  return Tensor.vector('float32', flat);
}

/** Views of `flat`, one per shape: the inverse of alignedFlatConcat with scale 1. */
export function alignedFlatSplit(shapes: readonly Shape[], flat: Floats): Floats[] {
  const op = 'alignedFlatSplit';
  checkCountOf(op, shapes.length);
  const total = shapes.reduce((sum, shape) => sum + padded(sizeOfShape(shape)), 0);
  check(total === flat.size, op, `the shapes take ${total} values, the vector has ${flat.size}`);
  let at = 0;
  return shapes.map((shape) => {
    const size = sizeOfShape(shape);
    const part = new Tensor('float32', shape, flat.data.subarray(at, at + size));
    at += padded(size);
    return part;
  });
}

function checkCountOf(op: string, count: number): void {
  check(count <= ALIGNED_TENSORS_MAX, op, `${count} tensors are more than ${ALIGNED_TENSORS_MAX}`);
}
