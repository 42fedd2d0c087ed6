/**
 * @file The hot distribution ops by kernels over a shared memory, with the signatures of their plain forms.
 *
 * Inputs that lie in the memory are used in place, others are copied in. Float and id results are views taken from the
 * arena, good until the caller releases it; a step marks the arena, runs its ops and goes back to the mark.
 */

import { MonolithError } from '../../../base/errors.js';
import type { WasmMemory } from '../../../base/wasm-types.js';
import type { Arena } from '../../../memory/arena.js';
import {
  GATHER_OUTPUT,
  RECORD_WORDS,
  REORDER_INPUT,
  UNIQUE_CELL_BYTES,
  wordsOf,
} from '../../../memory/record-layout.js';
import { view } from '../../../memory/views.js';
import { checkFusedGather } from '../../../tensor/ops/gather-embeddings.js';
import {
  checkReduceAndSplit,
  checkReduceAndSplitGradient,
  checkRowSplits,
  type Splits,
} from '../../../tensor/ops/reduce-and-split.js';
import {
  checkFusedReorder,
  emptyRank0Shard,
  type FusedReordered,
  type FusedReorderOptions,
} from '../../../tensor/ops/reorder-by-indices.js';
import { checkUniqueKey, type UniqueKeys, uniqueKeysOf } from '../../../tensor/ops/unique-key.js';
import type { RaggedTensor } from '../../../tensor/ragged-tensor.js';
import { type Shape, Tensor } from '../../../tensor/tensor.js';
import type { OpsKernels } from './calls/ops.js';
import type { SparseKernels } from './calls/sparse.js';

type Floats = Tensor<'float32'>;

export interface KernelOpsOptions {
  readonly kernels: OpsKernels & Pick<SparseKernels, 'uniqueTableCells'>;
  readonly memory: WasmMemory;
  readonly arena: Arena;
  /** The most distinct ids one input or row may have. */
  readonly maxUniqueIds: number;
}

/**
 * The distribution ops by kernels, in the memory of a session or of tables. Distributed tables route by it when they
 * are given one.
 *
 * ```ts
 * const ops = new distributionOps.KernelOps({ ...sessionRegion(session), maxUniqueIds: 4096 });
 * const table = new DistributedHashTable('user', servers, ops);
 * ```
 */
export class KernelOps {
  readonly #kernels: KernelOpsOptions['kernels'];
  readonly #buffer: SharedArrayBuffer;
  readonly #arena: Arena;
  readonly #table: number;
  readonly #cells: number;
  #generation = 1;

  constructor({ kernels, memory, arena, maxUniqueIds }: KernelOpsOptions) {
    this.#kernels = kernels;
    this.#buffer = memory.buffer;
    this.#arena = arena;
    this.#cells = kernels.uniqueTableCells(maxUniqueIds);
    this.#table = arena.alloc(this.#cells * UNIQUE_CELL_BYTES, 'ops: unique table');
    this.#clearTable();
  }

  fusedReorderByIndices(inputs: readonly BigInt64Array[], options: FusedReorderOptions): FusedReordered {
    const { dims, numOfShards, rank0Empty = emptyRank0Shard(numOfShards) } = options;
    checkFusedReorder(inputs.length, { dims, numOfShards, rank0Empty });
    const total = inputs.reduce((sum, { length }) => sum + length, 0);
    const embeddingOffsets = this.#ints(total);
    const shardedSlotSizes = this.#ints(numOfShards * inputs.length);
    const output = this.#ids(total);
    let at = 0;
    const records = inputs.map((ids, m) => {
      at += ids.length;
      const offsets = embeddingOffsets.byteOffset + (at - ids.length) * 4;
      const input = { ids: this.#inIds(ids), length: ids.length, dim: dims[m]!, offsets };
      return wordsOf(REORDER_INPUT, RECORD_WORDS, input);
    });
    const count = this.#kernels.fusedReorderI64(
      this.#records(records),
      inputs.length,
      numOfShards,
      Number(rank0Empty),
      this.#table,
      this.#cells - 1,
      this.#generations(inputs.length),
      this.#arena.alloc(total * 8, 'ops: unique ids'),
      this.#arena.alloc(total * 4, 'ops: shards'),
      this.#arena.alloc(total * 4, 'ops: floats'),
      this.#arena.alloc((inputs.length + 1) * 4, 'ops: ends'),
      shardedSlotSizes.byteOffset,
      this.#arena.alloc(numOfShards * 8, 'ops: cursors'),
      output.byteOffset,
    );
    this.#checkCount(count);
    return {
      output: output.subarray(0, count),
      shardSizes: Int32Array.from({ length: numOfShards }, (_, shard) =>
        shardedSlotSizes
          .subarray(shard * inputs.length, (shard + 1) * inputs.length)
          .reduce((sum, size) => sum + size, 0),
      ),
      shardedSlotSizes,
      embeddingOffsetSizes: Int32Array.from(inputs, (input) => input.length),
      embeddingOffsets,
    };
  }

  uniqueKeyWithValueAndOffset(
    key: RaggedTensor,
    dims: readonly number[],
    { generateBuffer = true }: { generateBuffer?: boolean } = {},
  ): UniqueKeys {
    const values = checkUniqueKey(key, dims);
    const rows = key.rowCount;
    checkRowSplits('uniqueKeyWithValueAndOffset', key.rowSplits, values.length);
    const splits = this.#inInts(Int32Array.from({ length: rows + 1 }, (_, r) => key.splitAt(r)));
    const unique = this.#ids(values.length);
    const uniqueSplits = this.#ints(rows + 1);
    const offsetSplits = this.#ints(values.length + 2);
    const offsets = this.#ints(values.length);
    const count = this.#kernels.uniqueKeyOffsetsI64(
      this.#inIds(values),
      splits,
      rows,
      this.#inInts(Int32Array.from(dims)),
      this.#table,
      this.#cells - 1,
      this.#generations(rows),
      unique.byteOffset,
      uniqueSplits.byteOffset,
      offsetSplits.byteOffset,
      offsets.byteOffset,
      this.#arena.alloc(values.length * 4, 'ops: inverse'),
    );
    this.#checkCount(count);
    const floats = dims.reduce((sum, dim, r) => sum + (key.splitAt(r + 1) - key.splitAt(r)) * dim, 0);
    return uniqueKeysOf({
      unique: unique.subarray(0, count),
      uniqueSplits: BigInt64Array.from(uniqueSplits, BigInt),
      offsets: BigInt64Array.from(offsets, BigInt),
      offsetSplits: BigInt64Array.from(offsetSplits.subarray(0, count + 1), BigInt),
      bufferLength: generateBuffer ? floats : undefined,
    });
  }

  fusedGatherEmbeddingsByInput(fused: Float32Array, offsets: readonly Int32Array[], dims: readonly number[]): Floats[] {
    checkFusedGather(fused.length, offsets, dims);
    const outs = offsets.map((list, m) => this.#matrix(list.length, dims[m]!));
    const records = offsets.map((list, m) => this.#gathered(list, dims[m]!, outs[m]!.data.byteOffset));
    this.#kernels.fusedGatherF32(this.#records(records), records.length, this.#inFloats(fused));
    return outs;
  }

  fusedGatherEmbeddingsByInputGradient(
    size: number,
    grads: readonly Floats[],
    offsets: readonly Int32Array[],
    dims: readonly number[],
    scale = 1,
  ): Float32Array {
    checkFusedGather(size, offsets, dims, grads);
    const out = this.#floats(size).fill(0);
    const records = offsets.map((list, m) => this.#gathered(list, dims[m]!, this.#inFloats(grads[m]!.data)));
    this.#kernels.fusedGatherGradF32(this.#records(records), records.length, out.byteOffset, scale);
    return out;
  }

  fusedReduceAndSplit(values: readonly Floats[], splits: readonly Splits[], sliceDims: readonly Shape[]): Floats[] {
    checkReduceAndSplit(values, splits, sliceDims);
    return values.flatMap((value, n) => {
      const ends = this.#inSplits(splits[n]!);
      const rows = splits[n]!.size - 1;
      const from = this.#inFloats(value.data);
      let start = 0;
      return sliceDims[n]!.map((dim) => {
        const out = this.#matrix(rows, dim);
        this.#kernels.reduceSliceF32(from, value.shape[1]!, ends, rows, start, dim, out.data.byteOffset);
        start += dim;
        return out;
      });
    });
  }

  fusedReduceAndSplitGradient(
    splits: readonly Splits[],
    grads: readonly Floats[],
    sliceDims: readonly Shape[],
  ): Floats[] {
    checkReduceAndSplitGradient(splits, grads, sliceDims);
    let next = 0;
    return splits.map((split, n) => {
      const ends = this.#inSplits(split);
      const rows = split.size - 1;
      const width = sliceDims[n]!.reduce((sum, dim) => sum + dim, 0);
      const out = this.#matrix(Number(split.data.at(-1)), width);
      let start = 0;
      for (const dim of sliceDims[n]!) {
        const grad = grads[next++]!;
        this.#kernels.reduceSliceGradF32(this.#inFloats(grad.data), ends, rows, start, dim, out.data.byteOffset, width);
        start += dim;
      }
      return out;
    });
  }

  #gathered(offsets: Int32Array, dim: number, to: number): number[] {
    const output = { offsets: this.#inInts(offsets), rows: offsets.length, dim, to };
    return wordsOf(GATHER_OUTPUT, RECORD_WORDS, output);
  }

  /** The first of `count` generations nobody used yet. */
  #generations(count: number): number {
    if (this.#generation + count > 0xffffffff) this.#clearTable();
    const first = this.#generation;
    this.#generation += count;
    return first;
  }

  #clearTable(): void {
    view(Uint8Array, this.#buffer, this.#table, this.#cells * UNIQUE_CELL_BYTES).fill(0);
    this.#generation = 1;
  }

  #checkCount(count: number): void {
    if (count >= 0) return;
    throw new MonolithError('ML_OP', {
      op: 'unique',
      reason: `one input has more distinct ids than ${this.#cells} cells hold`,
    });
  }

  #ints(count: number): Int32Array {
    return view(Int32Array, this.#buffer, this.#arena.alloc(count * 4, 'ops: integers'), count);
  }

  #ids(count: number): BigInt64Array {
    return view(BigInt64Array, this.#buffer, this.#arena.alloc(count * 8, 'ops: ids'), count);
  }

  #floats(count: number): Float32Array {
    return view(Float32Array, this.#buffer, this.#arena.alloc(count * 4, 'ops: floats'), count);
  }

  #matrix(rows: number, cols: number): Floats {
    return new Tensor('float32', [rows, cols], this.#floats(rows * cols));
  }

  #records(records: readonly (readonly number[])[]): number {
    const words = new Int32Array(records.length * RECORD_WORDS);
    records.forEach((record, i) => {
      words.set(record, i * RECORD_WORDS);
    });
    return this.#inInts(words);
  }

  #inInts(data: Int32Array): number {
    if (data.buffer === this.#buffer) return data.byteOffset;
    const copy = this.#ints(data.length);
    copy.set(data);
    return copy.byteOffset;
  }

  #inSplits(splits: Splits): number {
    return this.#inInts(splits.data instanceof Int32Array ? splits.data : Int32Array.from(splits.data, Number));
  }

  #inIds(data: BigInt64Array): number {
    if (data.buffer === this.#buffer) return data.byteOffset;
    const copy = this.#ids(data.length);
    copy.set(data);
    return copy.byteOffset;
  }

  #inFloats(data: Float32Array): number {
    if (data.buffer === this.#buffer) return data.byteOffset;
    const copy = this.#floats(data.length);
    copy.set(data);
    return copy.byteOffset;
  }
}
