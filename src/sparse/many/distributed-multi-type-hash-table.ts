/**
 * @file Tables of several slots spread over n servers, each of which has a part of every table. Mirrors
 * DistributedMultiTypeHashTable of native_training/distributed_ps.
 *
 * One routing serves all slots of a call, and each server answers it in one fused call.
 */

import { MonolithError } from '../../base/errors.js';
import { type Floats, floatsOf, type Ids } from '../../memory/given-arrays.js';
import type { OptimizeOptions, UpdateOptions } from '../table/embedding-table.js';
import { idList } from '../table/table-checks.js';
import { DistributedHashTable } from './distributed-hash-table.js';
import type {
  BaseMultiTypeHashTable,
  MultiTypeHashTable,
  SlotIds,
  SlotRows,
  SlotUpdates,
} from './multi-type-hash-table.js';
import { NamedTables } from './named-tables.js';
import { PLAIN_ROUTING, RoutedIds, type Routing } from './routed-ids.js';

const NO_IDS = new BigInt64Array(0);

/** Tables by slot over several servers. */
export class DistributedMultiTypeHashTable implements BaseMultiTypeHashTable {
  readonly servers: readonly MultiTypeHashTable[];
  /** Each slot's table over all servers. */
  readonly tables: NamedTables;
  readonly #routing: Routing;

  constructor(servers: readonly MultiTypeHashTable[], routing: Routing = PLAIN_ROUTING) {
    const names = checkServers(servers);
    this.servers = servers;
    this.tables = new NamedTables(
      Object.fromEntries(
        names.map((name) => {
          const parts = servers.map(({ tables }) => tables.get(name));
          return [name, new DistributedHashTable(name, parts, routing)];
        }),
      ),
    );
    this.#routing = routing;
  }

  get tableDimSizes(): Readonly<Record<string, number>> {
    return this.servers[0]!.tableDimSizes;
  }

  lookup(slotToIds: SlotIds): SlotRows {
    const routed = routeSlots(
      this.tables,
      slotToIds,
      { numOfShards: this.servers.length, rank0Empty: false },
      this.#routing,
    );
    const embeddings = new Float32Array(routed.floatCount);
    this.servers.forEach((server, s) => {
      const request = { ids: routed.idsOf(s), fusedSlotSize: routed.cellsOf(s), numOfShards: 1 };
      routed.floatsOf(s, embeddings).set(server.fusedLookup(request).embeddings);
    });
    return slotRows(this.tables, slotToIds, routed.spread(embeddings));
  }

  applyGradients(updates: SlotUpdates, options?: OptimizeOptions): void {
    const of = <K extends 'ids' | 'values'>(part: K) =>
      Object.fromEntries(Object.entries(updates).map(([slot, update]) => [slot, update[part]]));
    const routed = routeSlots(
      this.tables,
      of('ids'),
      { numOfShards: this.servers.length, rank0Empty: false },
      this.#routing,
    );
    const sums = routed.sum(gradientsInOrder(this.tables, of('values')));
    this.servers.forEach((server, s) => {
      const request = { ids: routed.idsOf(s), fusedSlotSize: routed.cellsOf(s), numOfShards: 1 };
      server.fusedApplyGradient({ ...request, gradients: routed.floatsOf(s, sums) }, options);
    });
  }

  assign(updates: SlotUpdates, options?: UpdateOptions): void {
    for (const [table, { ids, values }] of this.#inOrder(updates)) table.assign(ids, values, options);
  }

  assignAdd(updates: SlotUpdates, options?: UpdateOptions): void {
    for (const [table, { ids, values }] of this.#inOrder(updates)) table.assignAdd(ids, values, options);
  }

  reinitialize(slot: string, ids: Ids): Int32Array {
    return this.tables.get(slot).reinitialize(ids);
  }

  #inOrder(updates: SlotUpdates) {
    return Object.keys(updates)
      .sort()
      .map((slot) => [this.tables.get(slot), updates[slot]!] as const);
  }
}

function checkServers(servers: readonly MultiTypeHashTable[]): readonly string[] {
  const [first, ...others] = servers.map(({ tables }) => tables.names);
  if (first !== undefined && others.every((names) => names.join() === first.join())) return first;
  const reason = 'all servers must have the same tables';
  throw new MonolithError('ML_OP', { op: 'DistributedMultiTypeHashTable', reason });
}

/** Ids of all tables, routed; a table that is left out has none. */
export function routeSlots(
  tables: NamedTables,
  slotToIds: SlotIds,
  options: { readonly numOfShards: number; readonly rank0Empty?: boolean },
  routing: Routing,
): RoutedIds {
  for (const slot of Object.keys(slotToIds)) tables.get(slot);
  const dims = tables.tables.map(({ dim }) => dim);
  const slots = tables.names.map((name) => idList(name, slotToIds[name] ?? NO_IDS));
  return new RoutedIds(slots, { dims, ...options }, routing);
}

/** Rows of the slots that were asked for, out of those of all tables. */
export function slotRows(tables: NamedTables, slotToIds: SlotIds, rows: readonly Float32Array[]): SlotRows {
  return Object.fromEntries(
    tables.names.flatMap((name, i) => (slotToIds[name] === undefined ? [] : [[name, rows[i]!] as const])),
  );
}

/** Gradients of all tables; a table that is left out has none. */
export function gradientsInOrder(tables: NamedTables, gradients: Readonly<Record<string, Floats>>): Float32Array[] {
  for (const slot of Object.keys(gradients)) tables.get(slot);
  const refuse = (table: string) => (reason: string) =>
    new MonolithError('ML_OP', { op: table, reason: `its gradients are floats: ${reason}` });
  return tables.names.map((name) => floatsOf(gradients[name] ?? [], refuse(name)));
}
