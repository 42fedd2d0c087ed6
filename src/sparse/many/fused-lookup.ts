/**
 * @file Lookup and update of several tables for several shards in one call.
 *
 * Mirrors fused_lookup and fused_apply_gradient of native_training/hash_table_ops. A shard is whoever sent the ids, a
 * worker for instance. Ids come shard by shard, in each shard table by table: cell n * T + t holds what shard n wants
 * of table t, and embeddings and gradients are laid out alike.
 */
import { check, checkCount } from '../../tensor/ops/check.js';
import type { EmbeddingTable, IdArray, OptimizeOptions } from '../table/embedding-table.js';
import { ratesPerTable } from './named-tables.js';

export interface FusedIds {
  readonly ids: IdArray;
  /** Ids of each cell. */
  readonly fusedSlotSize: ArrayLike<number>;
  readonly numOfShards: number;
}

export interface FusedEmbeddings {
  readonly embeddings: Float32Array;
  /** Floats of each shard. */
  readonly embeddingSplits: Int32Array;
  /** First id of each cell, and the end. */
  readonly idOffsets: Int32Array;
  /** First float of each cell, and the end. */
  readonly embeddingOffsets: Int32Array;
  readonly ids: IdArray;
}

/** Where the cells begin, in ids and in floats. */
function layOut(op: string, tables: readonly EmbeddingTable[], { ids, fusedSlotSize, numOfShards }: FusedIds) {
  checkCount(op, 'the number of shards', numOfShards, 1);
  const cells = numOfShards * tables.length;
  check(fusedSlotSize.length === cells, op, `there are ${fusedSlotSize.length} slot sizes for ${cells} cells`);
  const idOffsets = new Int32Array(cells + 1);
  const embeddingOffsets = new Int32Array(cells + 1);
  for (let cell = 0; cell < cells; cell++) {
    const size = fusedSlotSize[cell]!;
    checkCount(op, 'a slot size', size);
    idOffsets[cell + 1] = idOffsets[cell]! + size;
    embeddingOffsets[cell + 1] = embeddingOffsets[cell]! + size * tables[cell % tables.length]!.dim;
  }
  check(idOffsets[cells] === ids.length, op, `slot sizes of together ${idOffsets[cells]} for ${ids.length} ids`);
  return { idOffsets, embeddingOffsets };
}

/** Embeddings of all cells, one after the other. */
export function fusedLookup(tables: readonly EmbeddingTable[], request: FusedIds): FusedEmbeddings {
  const { idOffsets, embeddingOffsets } = layOut('fusedLookup', tables, request);
  const embeddings = new Float32Array(embeddingOffsets.at(-1)!);
  const { ids, numOfShards } = request;
  for (let cell = 0; cell + 1 < idOffsets.length; cell++) {
    if (idOffsets[cell] === idOffsets[cell + 1]) continue;
    const out = embeddings.subarray(embeddingOffsets[cell], embeddingOffsets[cell + 1]);
    tables[cell % tables.length]!.lookup(ids.subarray(idOffsets[cell], idOffsets[cell + 1]), out);
  }
  const ends = (shard: number) => embeddingOffsets[shard * tables.length]!;
  const embeddingSplits = Int32Array.from({ length: numOfShards }, (_, shard) => ends(shard + 1) - ends(shard));
  return { embeddings, embeddingSplits, idOffsets, embeddingOffsets, ids };
}

/**
 * Steps the rows of all cells: shard by shard, in each shard table by table, so that an id two shards have is stepped
 * twice. `learningRates` are those of all tables, one after the other, the same for each shard; `enableDedup` sums
 * inside a cell. The gradients are scratch afterwards.
 */
export function fusedApplyGradient(
  tables: readonly EmbeddingTable[],
  request: FusedIds & { readonly gradients: Float32Array },
  { learningRates, ...options }: OptimizeOptions = {},
): void {
  const op = 'fusedApplyGradient';
  const { ids, gradients } = request;
  const { idOffsets, embeddingOffsets } = layOut(op, tables, request);
  const floats = embeddingOffsets.at(-1)!;
  check(gradients.length === floats, op, `there are ${gradients.length} gradients for ${floats} floats`);
  const rates = ratesPerTable(tables, learningRates);
  for (let cell = 0; cell + 1 < idOffsets.length; cell++) {
    if (idOffsets[cell] === idOffsets[cell + 1]) continue;
    const t = cell % tables.length;
    tables[t]!.optimize(
      ids.subarray(idOffsets[cell], idOffsets[cell + 1]),
      gradients.subarray(embeddingOffsets[cell], embeddingOffsets[cell + 1]),
      { ...options, ...rates[t] },
    );
  }
}
