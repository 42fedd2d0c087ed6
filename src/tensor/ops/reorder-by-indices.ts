/** @file Unique ids grouped by shard. Mirrors distribution_ops reorder_by_indices and fused_reorder_by_indices. */
import { allocateData, type DType, Tensor } from '../tensor.js';
import { check, checkCount, refuse, sum } from './check.js';

export interface Reordered<D extends DType> {
  readonly output: Tensor<D>;
  readonly shardSizes: Int32Array;
}

/**
 * Rows of `input`, unique by their first column, grouped by shard. Inside a shard the order is the reverse of the one
 * in which they were first seen, as in the reference: callers' stored offsets depend on it.
 */
export function reorderByIndices<D extends DType>(
  input: Tensor<D>,
  shardIds: Int32Array,
  numOfShards: number,
): Reordered<D> {
  const op = 'reorderByIndices';
  checkCount(op, 'the number of shards', numOfShards, 1);
  check(input.rank === 1 || input.rank === 2, op, `the input must have rank 1 or 2, not ${input.rank}`);
  const rows = input.shape[0]!;
  check(shardIds.length === rows, op, `there are ${shardIds.length} shard ids for ${rows} rows`);
  const width = input.shape[1] ?? 1;
  const seen = new Set<number | bigint>();
  const shards = Array.from({ length: numOfShards }, (): number[] => []);
  for (let row = 0; row < rows; row++) {
    const key = input.data[row * width]!;
    if (seen.has(key)) continue;
    seen.add(key);
    const shard = shards[shardIds[row]!];
    if (shard === undefined) refuse(op, `shard ${shardIds[row]} is not among ${numOfShards}`);
    shard.push(row);
  }
  const order = shards.flatMap((shard) => shard.toReversed());
  const data = allocateData(input.dtype, order.length * width);
  order.forEach((row, at) => {
    (data as Float32Array).set(input.data.subarray(row * width, (row + 1) * width) as Float32Array, at * width);
  });
  return {
    output: new Tensor(input.dtype, [order.length, ...input.shape.slice(1)], data),
    shardSizes: Int32Array.from(shards, (shard) => shard.length),
  };
}

export interface FusedReordered {
  /** Unique ids of all inputs, shard by shard, inside a shard input by input, each in first-seen order. */
  readonly output: BigInt64Array;
  readonly shardSizes: Int32Array;
  /** Unique ids per (shard, input). */
  readonly shardedSlotSizes: Int32Array;
  readonly embeddingOffsetSizes: Int32Array;
  /** For every position of every input: where its embedding starts in the vector of all embeddings in output order. */
  readonly embeddingOffsets: Int32Array;
}

export interface FusedReorderOptions {
  /** Width of an embedding per input. */
  readonly dims: readonly number[];
  readonly numOfShards: number;
  /** Shard 0 stays empty. */
  readonly rank0Empty?: boolean;
}

/** With more than four shards the first stays empty unless MONOLITH_SYNC_EMPTY_RANK0_PS_SHARD says otherwise. */
export function emptyRank0Shard(numOfShards: number, env: Readonly<NodeJS.ProcessEnv> = process.env): boolean {
  return numOfShards > 4 && (env.MONOLITH_SYNC_EMPTY_RANK0_PS_SHARD ?? '1') === '1';
}

/** The shard of an id: floorMod of the signed id, so negative ids have one too. */
export function shardOfId(id: bigint, numOfShards: number, rank0Empty = false): number {
  const count = BigInt(rank0Empty ? numOfShards - 1 : numOfShards);
  const rest = id % count;
  return Number(rest < 0n ? rest + count : rest) + (rank0Empty ? 1 : 0);
}

export function checkFusedReorder(inputCount: number, { dims, numOfShards, rank0Empty }: FusedReorderOptions): void {
  const op = 'fusedReorderByIndices';
  checkCount(op, 'the number of shards', numOfShards, rank0Empty ? 2 : 1);
  check(dims.length === inputCount, op, `there are ${dims.length} dims for ${inputCount} inputs`);
  for (const dim of dims) checkCount(op, 'a dim', dim, 1);
}

/**
 * Unique ids of several inputs, ordered by shard, with the place of every position's embedding.
 *
 * ```ts
 * const ids = BigInt64Array.of(0n, 1n, 2n, 2n);
 * fusedReorderByIndices([ids], { dims: [2], numOfShards: 2 }).output; // 0n, 2n, 1n
 * ```
 */
export function fusedReorderByIndices(inputs: readonly BigInt64Array[], options: FusedReorderOptions): FusedReordered {
  const { dims, numOfShards, rank0Empty = emptyRank0Shard(numOfShards) } = options;
  checkFusedReorder(inputs.length, { dims, numOfShards, rank0Empty });
  const cells = Array.from({ length: numOfShards * inputs.length }, (): bigint[] => []);
  const places = inputs.map((input, m) => {
    const seen = new Map<bigint, { cell: number; position: number }>();
    for (const id of input) {
      if (seen.has(id)) continue;
      const cell = shardOfId(id, numOfShards, rank0Empty) * inputs.length + m;
      seen.set(id, { cell, position: cells[cell]!.push(id) - 1 });
    }
    return seen;
  });
  const starts: number[] = [];
  let floats = 0;
  cells.forEach((cell, c) => {
    starts.push(floats);
    floats += cell.length * dims[c % inputs.length]!;
  });
  const offsets = inputs.flatMap((input, m) =>
    Array.from(input, (id) => {
      const { cell, position } = places[m]!.get(id)!;
      return starts[cell]! + position * dims[m]!;
    }),
  );
  const sizes = cells.map((cell) => cell.length);
  return {
    output: BigInt64Array.from(cells.flat()),
    shardSizes: Int32Array.from({ length: numOfShards }, (_, shard) =>
      sum(sizes.slice(shard * inputs.length, (shard + 1) * inputs.length)),
    ),
    shardedSlotSizes: Int32Array.from(sizes),
    embeddingOffsetSizes: Int32Array.from(inputs, (input) => input.length),
    embeddingOffsets: Int32Array.from(offsets),
  };
}
