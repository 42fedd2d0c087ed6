/**
 * @file Ids of several slots made unique and grouped by the server that has their rows, and the way back.
 *
 * Server by server, slot by slot, ids in first-seen order: the layout of a fused lookup, so that a server's part of
 * ids, embeddings and gradients is one piece of each vector. Gradients of an id that comes again are summed on the way.
 */
import {
  fusedGatherEmbeddingsByInput,
  fusedGatherEmbeddingsByInputGradient,
} from '../../tensor/ops/gather-embeddings.js';
import {
  type FusedReordered,
  type FusedReorderOptions,
  fusedReorderByIndices,
} from '../../tensor/ops/reorder-by-indices.js';
import { Tensor } from '../../tensor/tensor.js';

type Floats = Tensor<'float32'>;

/**
 * The distribution ops that route: in plain TypeScript, or by kernels (`KernelOps`, whose arena the caller then
 * releases).
 */
export interface Routing {
  fusedReorderByIndices(inputs: readonly BigInt64Array[], options: FusedReorderOptions): FusedReordered;
  fusedGatherEmbeddingsByInput(fused: Float32Array, offsets: readonly Int32Array[], dims: readonly number[]): Floats[];
  fusedGatherEmbeddingsByInputGradient(
    size: number,
    grads: readonly Floats[],
    offsets: readonly Int32Array[],
    dims: readonly number[],
  ): Float32Array;
}

export const PLAIN_ROUTING: Routing = {
  fusedReorderByIndices,
  fusedGatherEmbeddingsByInput,
  fusedGatherEmbeddingsByInputGradient,
};

export class RoutedIds {
  /** Unique ids, server by server. */
  readonly ids: BigInt64Array;
  /** Ids per (server, slot). */
  readonly cellSizes: Int32Array;
  /** First id of each server, and the end. */
  readonly idEnds: Int32Array;
  /** First float of each server, and the end. */
  readonly floatEnds: Int32Array;
  readonly #routing: Routing;
  readonly #dims: readonly number[];
  readonly #offsets: readonly Int32Array[];

  constructor(slots: readonly BigInt64Array[], options: FusedReorderOptions, routing: Routing = PLAIN_ROUTING) {
    const { dims, numOfShards } = options;
    const reordered = routing.fusedReorderByIndices(slots, options);
    this.#routing = routing;
    this.#dims = dims;
    this.ids = reordered.output;
    this.cellSizes = reordered.shardedSlotSizes;
    this.idEnds = new Int32Array(numOfShards + 1);
    this.floatEnds = new Int32Array(numOfShards + 1);
    for (let server = 0; server < numOfShards; server++) {
      const sizes = this.cellsOf(server);
      this.idEnds[server + 1] = sizes.reduce((sum, size) => sum + size, this.idEnds[server]!);
      this.floatEnds[server + 1] = sizes.reduce((sum, size, s) => sum + size * dims[s]!, this.floatEnds[server]!);
    }
    let at = 0;
    this.#offsets = slots.map(({ length }) => {
      at += length;
      return reordered.embeddingOffsets.subarray(at - length, at);
    });
  }

  /** Ids of each slot that `server` is asked for. */
  cellsOf(server: number): Int32Array {
    return this.cellSizes.subarray(server * this.#dims.length, (server + 1) * this.#dims.length);
  }

  idsOf(server: number): BigInt64Array {
    return this.ids.subarray(this.idEnds[server], this.idEnds[server + 1]);
  }

  /** The part of a vector over all servers, such as embeddings or gradients, that is `server`'s. */
  floatsOf(server: number, floats: Float32Array): Float32Array {
    return floats.subarray(this.floatEnds[server], this.floatEnds[server + 1]);
  }

  /** Floats of all servers. */
  get floatCount(): number {
    return this.floatEnds.at(-1)!;
  }

  /** Rows of every slot for all its positions, from the embeddings of the unique ids. */
  spread(embeddings: Float32Array): Float32Array[] {
    return this.#routing.fusedGatherEmbeddingsByInput(embeddings, this.#offsets, this.#dims).map(({ data }) => data);
  }

  /** Gradients of the unique ids, from those of all positions: sums, in the order of the positions. */
  sum(gradients: readonly Float32Array[]): Float32Array {
    const rows = gradients.map((data, s) => {
      const shape = [this.#offsets[s]!.length, this.#dims[s]!];
      return new Tensor('float32', shape, data);
    });
    return this.#routing.fusedGatherEmbeddingsByInputGradient(this.floatCount, rows, this.#offsets, this.#dims);
  }
}
