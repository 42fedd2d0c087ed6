/**
 * @file Packs tensors by the copy kernel: one call for all pieces that lie in the shared memory.
 *
 * Made for many small pieces, where a call per piece would cost more than the copy. The arena provides the packed
 * vectors and the descriptors; the caller releases it.
 */
import type { WasmMemory } from '../../../base/wasm-types.js';
import type { Arena } from '../../../memory/arena.js';
import { COPY, COPY_WORDS } from '../../../memory/record-layout.js';
import { view } from '../../../memory/views.js';
import { allocateData, type DataOf, type DType } from '../../../tensor/tensor.js';
import { copyPlain, type Packer, type Piece } from '../../../tensor/tensor-utils.js';
import type { SparseKernels } from './calls/sparse.js';

/** Packs tensors by the copy kernel, one call for all pieces that lie in the shared memory. */
export function createKernelPacker(
  kernels: Pick<SparseKernels, 'copyPieces'>,
  memory: WasmMemory,
  arena: Arena,
): Packer {
  const buffer = memory.buffer;
  return {
    allocate: (dtype, count) => allocateShared(buffer, arena, dtype, count),
    copy(pieces) {
      const shared: Piece[] = [];
      for (const piece of pieces) {
        if (piece.source.buffer === buffer && piece.target.buffer === buffer) shared.push(piece);
        else copyPlain(piece);
      }
      if (shared.length === 0) return;
      const mark = arena.mark();
      const descriptors = arena.alloc(shared.length * COPY_WORDS * 4, 'pack descriptors');
      const words = view(Uint32Array, buffer, descriptors, shared.length * COPY_WORDS, 'pack descriptors');
      shared.forEach(({ source, target }, i) => {
        words[i * COPY_WORDS + COPY.from] = source.byteOffset;
        words[i * COPY_WORDS + COPY.to] = target.byteOffset;
        words[i * COPY_WORDS + COPY.bytes] = source.byteLength;
      });
      kernels.copyPieces(descriptors, shared.length);
      arena.release(mark);
    },
  };
}

function allocateShared<D extends DType>(buffer: SharedArrayBuffer, arena: Arena, dtype: D, count: number): DataOf<D> {
  const shape = allocateData(dtype, 0);
  const make = shape.constructor as new (buffer: SharedArrayBuffer, offset: number, count: number) => DataOf<D>;
  return new make(buffer, arena.alloc(count * shape.BYTES_PER_ELEMENT, 'packed tensors'), count);
}
