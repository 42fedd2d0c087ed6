/**
 * @file Tables of synchronous training: every worker has a part of each table, and all step together. Mirrors
 * DistributedMultiTypeHashTableMpi of native_training/distributed_ps_sync.
 *
 * A worker makes its ids unique, sends each worker those whose rows are there, and gets embeddings back; its gradients
 * are summed per id before they go the same way. An id that two workers have is stepped once for each of them, in the
 * order of the workers.
 */

import type { OptimizeOptions } from '../table/embedding-table.js';
import type { AllToAll } from './all-to-all.js';
import { gradientsInOrder, routeSlots, slotRows } from './distributed-multi-type-hash-table.js';
import type { FusedEmbeddings } from './fused-lookup.js';
import type { MultiTypeHashTable, SlotIds, SlotRows } from './multi-type-hash-table.js';
import { PLAIN_ROUTING, type RoutedIds, type Routing } from './routed-ids.js';

/** What a worker asks another for. */
interface IdPart {
  readonly ids: BigInt64Array;
  readonly cellSizes: Int32Array;
}

/** A lookup and the way its gradients go back. */
export interface SyncLookup {
  readonly rows: SlotRows;
  readonly routed: RoutedIds;
  /** What this worker looked up for all of them. */
  readonly served: FusedEmbeddings;
  readonly servedSizes: Int32Array;
}

/** Tables by slot over workers that exchange rows with each other. */
export class DistributedMultiTypeHashTableMpi {
  /** This worker's part of the tables. */
  readonly local: MultiTypeHashTable;
  readonly #collective: AllToAll;
  readonly #routing: Routing;

  constructor(local: MultiTypeHashTable, collective: AllToAll, routing: Routing = PLAIN_ROUTING) {
    this.local = local;
    this.#collective = collective;
    this.#routing = routing;
  }

  /** Rows of all slots, for every position. All workers look up at the same time. */
  async lookup(slotToIds: SlotIds): Promise<SyncLookup> {
    const { workerCount } = this.#collective;
    const { tables } = this.local;
    const routed = routeSlots(tables, slotToIds, { numOfShards: workerCount }, this.#routing);
    const asked = await this.#collective.exchange<IdPart>(
      Array.from({ length: workerCount }, (_, w) => ({ ids: routed.idsOf(w), cellSizes: routed.cellsOf(w) })),
    );
    const servedSizes = Int32Array.from(asked.flatMap(({ cellSizes }) => [...cellSizes]));
    const ids = concat(
      BigInt64Array,
      asked.map((part) => part.ids),
    );
    const served = this.local.fusedLookup({ ids, fusedSlotSize: servedSizes, numOfShards: workerCount });
    const found = await this.#collective.exchange(cut(served.embeddings, served.embeddingSplits));
    const rows = slotRows(tables, slotToIds, routed.spread(concat(Float32Array, found)));
    return { rows, routed, served, servedSizes };
  }

  /** Steps the rows of a lookup by the gradients of its positions. All workers do so at the same time. */
  async applyGradients(lookup: SyncLookup, gradients: SlotRows, options?: OptimizeOptions): Promise<void> {
    const { routed, served, servedSizes } = lookup;
    const sums = routed.sum(gradientsInOrder(this.local.tables, gradients));
    const { workerCount } = this.#collective;
    const parts = Array.from({ length: workerCount }, (_, w) => routed.floatsOf(w, sums));
    const received = concat(Float32Array, await this.#collective.exchange(parts));
    const request = { ids: served.ids, fusedSlotSize: servedSizes, numOfShards: workerCount, gradients: received };
    this.local.fusedApplyGradient(request, options);
  }
}

/** Pieces of these lengths, one after the other. */
function cut(floats: Float32Array, lengths: Int32Array): Float32Array[] {
  let at = 0;
  return Array.from(lengths, (length) => {
    at += length;
    return floats.subarray(at - length, at);
  });
}

function concat<T extends BigInt64Array | Float32Array>(make: new (length: number) => T, parts: readonly T[]): T {
  const all = new make(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    (all as Float32Array).set(part as Float32Array, at);
    at += part.length;
  }
  return all;
}
