/**
 * @file Copies all tensors of a nested structure at once: what a queue does with the values it takes in.
 *
 * With the packer of a shared memory (runtime/kernel-packer) the copies lie there, and one call of the copy kernel
 * makes them all.
 */
import { NestedTensors } from './nested.js';
import { type DType, Tensor } from './tensor.js';
import { type Packer, type Piece, PLAIN_PACKER } from './tensor-utils.js';

/**
 * The structure around copies; what is no tensor stays. A tensor that is in it twice is copied once.
 *
 * ```ts
 * copyNested({ x, rows: [ids, 'name'] }, packer);
 * ```
 */
export function copyNested<S>(nested: S, packer: Packer = PLAIN_PACKER): S {
  const walk = new NestedTensors(nested);
  const pieces: Piece[] = [];
  const copies = walk.getTensors().map((tensor) => {
    const target = packer.allocate<DType>(tensor.dtype, tensor.size);
    pieces.push({ source: tensor.data, target });
    return new Tensor<DType>(tensor.dtype, tensor.shape, target);
  });
  packer.copy(pieces);
  return walk.getNestedResult(copies) as S;
}
