/**
 * @file The whole sparse side of a model over n servers: examples in, layouts out, gradients of layouts back to rows.
 *
 * Mirrors PartitionedHashTable of native_training/distributed_ps. Ids of a batch are sharded by table and server, each
 * server looks its lists up, and one fused op pools and places the rows; gradients go the same way back. An id is
 * stepped once for each feature that has it, since a list keeps the ids of its features apart.
 */
import { MonolithError } from '../../base/errors.js';
import type { FeatureConfigs } from '../../io/example-messages.js';
import type { MessageInput } from '../../io/message.js';
import type { MultiTypeHashTable } from '../../sparse/many/multi-type-hash-table.js';
import { ratesPerTable } from '../../sparse/many/named-tables.js';
import type { OptimizeOptions } from '../../sparse/table/embedding-table.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { FidColumns } from './fid-columns.js';
import { fusedEmbeddingToLayout, fusedEmbeddingToLayoutGradient } from './fused-embedding-to-layout.js';
import { compileLayout, type LayoutPlan } from './layout-plan.js';
import {
  type ShardedFids,
  type ShardingInputType,
  type ShardingOptions,
  shardFidColumns,
  shardingSparseFids,
} from './sharding-sparse-fids.js';

type Floats = Tensor<'float32'>;

/** A looked-up batch: the layouts, and what their gradients need to find the rows again. */
export interface PartitionedLookup {
  /** Tensors by layout name; a layout of slices that are neither joined nor added has several. */
  readonly layouts: Readonly<Record<string, readonly Floats[]>>;
  readonly sharded: ShardedFids;
  /** Rows per (table, server) list. */
  readonly embeddings: readonly Float32Array[];
}

/** Tables over servers with the layouts of features, as models of the reference call them. */
export class PartitionedHashTable {
  readonly plan: LayoutPlan;
  readonly servers: readonly MultiTypeHashTable[];
  readonly #configs: MessageInput<FeatureConfigs>;

  /** Every server has a part of each table that `configs` name. */
  constructor(configs: MessageInput<FeatureConfigs>, servers: readonly MultiTypeHashTable[]) {
    this.plan = compileLayout(configs, servers.length);
    this.servers = servers;
    this.#configs = configs;
    for (const { name, dim, tableIndex } of this.plan.order.features) {
      const table = this.plan.order.tables[tableIndex]!.name;
      for (const { tables } of servers) {
        const found = tables.get(table).dim;
        if (found === dim) continue;
        const reason = `feature ${name} has slices of ${dim} floats, its table ${table} rows of ${found}`;
        throw new MonolithError('ML_SHARDING', { reason });
      }
    }
  }

  /** Shards serialized messages. */
  shard(messages: readonly Uint8Array[], inputType: ShardingInputType, options?: SharedOptions): ShardedFids {
    return shardingSparseFids(messages, inputType, this.#configs, this.#sharding(options));
  }

  /** Shards ids that were taken out of their messages. */
  shardColumns(columns: FidColumns, options?: SharedOptions): ShardedFids {
    return shardFidColumns(columns, this.plan.order, this.#sharding(options));
  }

  lookup(sharded: ShardedFids): PartitionedLookup {
    const embeddings = sharded.fidList.map((ids, list) => this.#table(list).lookup(ids));
    const tensors = fusedEmbeddingToLayout(this.plan, { version: 3, embeddings }, sharded);
    const layouts: Record<string, Floats[]> = {};
    this.plan.outputs.forEach(({ layout }, i) => {
      layouts[layout] = [...(layouts[layout] ?? []), tensors[i]!];
    });
    return { layouts, sharded, embeddings };
  }

  /**
   * Steps the rows of a looked-up batch by the gradients of its layouts, which have the names and shapes of the lookup.
   * `learningRates`, when given, are those of all tables in the order of their names.
   */
  applyGradients(
    { sharded, embeddings }: PartitionedLookup,
    layoutGradients: Readonly<Record<string, readonly Floats[]>>,
    { learningRates, ...options }: OptimizeOptions = {},
  ): void {
    const seen: Record<string, number> = {};
    const grads = this.plan.outputs.map(({ layout }) => {
      const index = seen[layout] ?? 0;
      seen[layout] = index + 1;
      const grad = layoutGradients[layout]?.[index];
      if (grad === undefined) throw new MonolithError('ML_LAYOUT', { layout, reason: `gradient ${index} is missing` });
      return grad;
    });
    const rows = fusedEmbeddingToLayoutGradient(this.plan, { version: 3, embeddings }, sharded, grads);
    const names = this.plan.order.tables.map(({ name }) => name);
    const rates = ratesPerTable(
      names.map((name) => this.servers[0]!.tables.get(name)),
      learningRates,
    );
    rows.forEach((gradients, list) => {
      const ids = sharded.fidList[list]!;
      const own = rates[Math.floor(list / this.servers.length)];
      if (ids.length > 0) this.#table(list).optimize(ids, gradients, { ...options, ...own });
    });
  }

  #sharding(options: SharedOptions = {}): ShardingOptions {
    return { ...options, psNum: this.servers.length, version: 3 };
  }

  #table(list: number) {
    const servers = this.servers.length;
    const { name } = this.plan.order.tables[Math.floor(list / servers)]!;
    return this.servers[list % servers]!.tables.get(name);
  }
}

type SharedOptions = Pick<ShardingOptions, 'unique' | 'backend'>;
