/**
 * @file One table spread over n servers, as a table. Mirrors DistributedHashTable of native_training/distributed_ps.
 *
 * The server of an id is floorMod(id, n). Lookups ask for each id once and hand the row to every position; gradients of
 * an id are summed before its one step. Assigning, which may mean something else at each position, does not do so.
 */
import { MonolithError } from '../../base/errors.js';
import type { Floats, Ids } from '../../memory/given-arrays.js';
import { shardOfId } from '../../tensor/ops/reorder-by-indices.js';
import { splitByIndices, splitByIndicesGradient } from '../../tensor/ops/split-by-indices.js';
import { Tensor } from '../../tensor/tensor.js';
import type { EmbeddingTable, OptimizeOptions, UpdateOptions } from '../table/embedding-table.js';
import { idList, rowList } from '../table/table-checks.js';
import { PLAIN_ROUTING, RoutedIds, type Routing } from './routed-ids.js';

/** One table over several servers, by the owner of each id. */
export class DistributedHashTable implements EmbeddingTable {
  readonly name: string;
  readonly dim: number;
  readonly servers: readonly EmbeddingTable[];
  readonly #routing: Routing;

  constructor(name: string, servers: readonly EmbeddingTable[], routing: Routing = PLAIN_ROUTING) {
    const [first] = servers;
    if (first === undefined || servers.some(({ dim }) => dim !== first.dim)) {
      const reason = `its servers have rows of [${servers.map(({ dim }) => dim)}] floats`;
      throw new MonolithError('ML_OP', { op: name, reason });
    }
    this.name = name;
    this.dim = first.dim;
    this.servers = servers;
    this.#routing = routing;
  }

  get sliceSize(): number {
    return this.servers[0]!.sliceSize;
  }

  get size(): number {
    return this.servers.reduce((sum, server) => sum + server.size, 0);
  }

  lookup(given: Ids, into?: Float32Array): Float32Array {
    const ids = idList(this.name, given);
    const routed = this.#route(ids);
    const out = into ?? new Float32Array(ids.length * this.dim);
    const embeddings = new Float32Array(routed.floatCount);
    this.#each(routed, (server, ids, rows) => server.lookup(ids, rows), embeddings);
    out.set(routed.spread(embeddings)[0]!);
    return out;
  }

  optimize(given: Ids, rows: Floats, options?: OptimizeOptions): void {
    const ids = idList(this.name, given);
    const gradients = rowList(this.name, this.dim, ids, rows);
    const routed = this.#route(ids);
    this.#each(routed, (server, ids, rows) => server.optimize(ids, rows, options), routed.sum([gradients]));
  }

  assign(ids: Ids, values: Floats, options?: UpdateOptions): void {
    this.#assign(ids, values, (server, ids, rows) => server.assign(ids, rows, options));
  }

  assignAdd(ids: Ids, values: Floats, options?: UpdateOptions): void {
    this.#assign(ids, values, (server, ids, rows) => server.assignAdd(ids, rows, options));
  }

  contains(ids: Ids): Uint8Array {
    return this.#collect(ids, 'uint8', (server, ids) => server.contains(ids));
  }

  reinitialize(ids: Ids): Int32Array {
    return this.#collect(ids, 'int32', (server, ids) => server.reinitialize(ids));
  }

  lookupEntry(ids: Ids): Uint8Array[] {
    const { servers, parts } = this.#split(idList(this.name, ids));
    const entries = parts.map(({ data }, s) => this.servers[s]!.lookupEntry(data));
    const next = entries.map(() => 0);
    return Array.from(servers.data, (server) => entries[Number(server)]![next[Number(server)]!++]!);
  }

  evict(nowSec: number): number {
    return this.servers.reduce((sum, server) => sum + server.evict(nowSec), 0);
  }

  clear(): void {
    for (const server of this.servers) server.clear();
  }

  #route(ids: BigInt64Array): RoutedIds {
    const options = { dims: [this.dim], numOfShards: this.servers.length, rank0Empty: false };
    return new RoutedIds([ids], options, this.#routing);
  }

  /** Calls `visit` for each server that has ids, with its part of them and of `floats`. */
  #each(
    routed: RoutedIds,
    visit: (server: EmbeddingTable, ids: BigInt64Array, rows: Float32Array) => void,
    floats: Float32Array,
  ): void {
    for (const [s, server] of this.servers.entries()) {
      const ids = routed.idsOf(s);
      if (ids.length > 0) visit(server, ids, routed.floatsOf(s, floats));
    }
  }

  /** Ids by server, all of them, in order. */
  #split(all: BigInt64Array) {
    const servers = Tensor.vector(
      'int64',
      BigInt64Array.from(all, (id) => BigInt(shardOfId(id, this.servers.length))),
    );
    return { servers, parts: splitByIndices(servers, Tensor.vector('int64', all), this.servers.length) };
  }

  #assign(
    given: Ids,
    floats: Floats,
    visit: (server: EmbeddingTable, ids: BigInt64Array, rows: Float32Array) => void,
  ): void {
    const ids = idList(this.name, given);
    const values = rowList(this.name, this.dim, ids, floats);
    const { servers, parts } = this.#split(ids);
    const rows = new Tensor('float32', [ids.length, this.dim], values);
    splitByIndices(servers, rows, this.servers.length).forEach(({ data }, s) => {
      if (parts[s]!.size > 0) visit(this.servers[s]!, parts[s]!.data, data);
    });
  }

  /** One value per id, asked of the servers and put back in the order of the ids. */
  #collect<D extends 'uint8' | 'int32'>(
    given: Ids,
    dtype: D,
    ask: (server: EmbeddingTable, ids: BigInt64Array) => Tensor<D>['data'],
  ): Tensor<D>['data'] {
    const ids = idList(this.name, given);
    const { servers, parts } = this.#split(ids);
    const answers = parts.map(({ data }, s) => Tensor.vector(dtype, ask(this.servers[s]!, data)));
    const shape = Tensor.vector(
      dtype,
      (dtype === 'uint8' ? new Uint8Array(ids.length) : new Int32Array(ids.length)) as Tensor<D>['data'],
    );
    return splitByIndicesGradient(servers, shape, answers).data;
  }
}
