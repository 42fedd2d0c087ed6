/**
 * @file Graph ops of embedding tables: the pooled lookup of a feature and the update of a table, with their lowerings.
 *
 * All features of one table are made unique together, once per slice; their gradients are summed per unique id in the
 * slice, and the owner of the id's partition adds the slices up and steps the row.
 */
import { MonolithError } from '../base/errors.js';
import { misfit, type Op, type OpDef, type Tensor } from '../graph/graph.js';
import { type Ids, tensorOfIds } from '../graph/typed-inputs.js';
import { APPLY_SLICE_BYTES, LOOKUP_SCRATCH_BYTES, PARTITIONS, TIME_UNKNOWN } from '../memory/table-layout.js';
import type { Register } from '../runtime/code.js';
import { KERNEL } from '../runtime/kernels.js';
import { type LoweringContext, type RaggedFeed, registerLowering } from '../runtime/lowering.js';
import { TOUCHED_SCRATCH_BYTES } from '../runtime/touched-geometry.js';
import { BankedTable } from './banked-lowering.js';
import { HashTable } from './hash-table.js';
import { IdBlock } from './id-blocks.js';
import { emitPool, emitPoolGradient, type Pooling, pooledColumns, pooledShape } from './pooling.js';
import { type StepGate, stepGate, writeGate } from './step-gate.js';
import type { TableConfig } from './table-config.js';
import { tableDim } from './table-plan.js';

/** Collection of the tables a graph uses. */
export const TABLES = 'tables';

export interface EmbeddingLookupAttrs {
  readonly table: TableConfig;
  readonly pooling: Pooling;
}

export const EmbeddingLookup: OpDef<EmbeddingLookupAttrs> = {
  type: 'EmbeddingLookup',
  infer: ([ids], { table, pooling }) => {
    if (ids?.spec.dtype !== 'int64' || !ids.perExample) {
      throw misfit('EmbeddingLookup', 'a placeholder of ids is needed, ragged or of a number of ids per example');
    }
    if (!ids.spec.ragged && pooling !== 'sum') throw misfit(ids.name, 'columns of ids are looked up as sums only');
    return [{ dtype: 'float32', shape: pooledShape(pooling, tableDim(table)) }];
  },
};

/**
 * The embeddings of each example's ids: their sum or mean, `[batch, dim]`, or the first n of them, `[batch, n, dim]`.
 * `ids` is a ragged placeholder, or columns of one with a number of ids per example, whose sums are faster. Absent ids count
 * as zeros and are not inserted.
 */
export function embeddingLookup(ids: Ids, table: TableConfig, name?: string, pooling: Pooling = 'sum'): Tensor {
  const { graph } = ids;
  const known = graph.getCollection<TableConfig>(TABLES).find(({ name }) => name === table.name);
  if (known === undefined) graph.addToCollection(TABLES, table);
  else if (known !== table) throw misfit(table.name, 'another table has this name: use one config object for both');
  return graph.add(EmbeddingLookup, [tensorOfIds(ids)], { table, pooling }, name ?? `embedding/${ids.op.name}`).output;
}

export interface EmbeddingUpdateAttrs {
  readonly table: TableConfig;
  /** The lookups the gradients belong to, in order. */
  readonly lookups: readonly Tensor[];
}

export const EmbeddingUpdate: OpDef<EmbeddingUpdateAttrs> = {
  type: 'EmbeddingUpdate',
  infer: (grads, { table, lookups }) => {
    if (grads.length !== lookups.length) throw misfit('EmbeddingUpdate', 'one gradient per lookup is needed');
    for (const [index, { columns }] of grads.entries()) {
      const { pooling } = lookups[index]!.op.attrs as EmbeddingLookupAttrs;
      const wanted = pooledColumns(pooling, tableDim(table));
      if (columns !== wanted) throw misfit('EmbeddingUpdate', `a gradient has ${columns} columns, not ${wanted}`);
    }
    return [];
  },
};

/** Applies the gradients of lookups to their tables: one op per table. */
export function applyEmbeddingGradients(gradsAndLookups: readonly (readonly [Tensor, Tensor])[]): Op[] {
  const byTable = new Map<TableConfig, (readonly [Tensor, Tensor])[]>();
  for (const pair of gradsAndLookups) {
    if (pair[0] === undefined)
      throw misfit(pair[1].name, 'it has no gradient: what was differentiated does not depend on it');
    const { table } = (pair[1].op as Op<{ readonly table: TableConfig }>).attrs;
    const list = byTable.get(table);
    if (list === undefined) byTable.set(table, [pair]);
    else list.push(pair);
  }
  return [...byTable].map(([table, pairs]) => {
    const attrs = { table, lookups: pairs.map(([, lookup]) => lookup) };
    const grads = pairs.map(([grad]) => grad);
    return pairs[0]![1].graph.add(EmbeddingUpdate, grads, attrs, `update/${table.name}`) as Op;
  });
}

/** What the lookups and the update of one table share in a program. */
interface TableGroup {
  readonly table: HashTable;
  readonly ids: { readonly base: number; readonly sliceBytes: number };
  /** Addresses of the rows of the unique ids, and of what lookups show of them, which may be the rows themselves. */
  readonly rows: { readonly base: number; readonly sliceBytes: number; readonly pointer: Register };
  readonly shown: Register;
  readonly count: Register;
  readonly capacity: number;
  readonly features: ReadonlyMap<Tensor, { readonly inverse: Register; readonly ragged: RaggedFeed }>;
  /** Features with the same number of ids in every example. */
  readonly blocks: readonly IdBlock[];
  /** Unique ids by the partition that owns them; only where rows are updated or in other memories. */
  readonly owners?: { readonly order: PerSlice; readonly offsets: PerSlice };
  /** Places of the ids in the index; only in programs that update a table of the session's memory. */
  readonly slots?: PerSlice;
  readonly banked?: BankedTable;
  readonly gate: StepGate;
  /** How often each unique id came; only in programs that update a table with an admission filter. */
  readonly counts?: PerSlice;
}
interface PerSlice {
  readonly base: number;
  readonly sliceBytes: number;
}

function groupOf(context: LoweringContext, config: TableConfig): TableGroup {
  return context.shared(config, () => {
    const group = lowerGroup(context, config);
    // What is shown of all features of a block is written at once, with the first of them.
    for (const block of group.blocks) {
      const lookups = context.ops.filter((op) => isOp(op, EmbeddingLookup) && block.has(op.output));
      if (lookups.length > 0)
        block.gather(
          group.shown,
          lookups.map(({ output }) => output),
        );
    }
    return group;
  });
}

function isOp<A>(op: Op, def: OpDef<A>): op is Op<A> & Op {
  return op.def === (def as OpDef<unknown>);
}

/** Unique ids of all features of the table in this slice, their rows, and, for an update, their owners. */
function lowerGroup(context: LoweringContext, config: TableConfig): TableGroup {
  const { slice } = context;
  const table = HashTable.of(context.environment, config);
  const updates = context.ops.filter((op) => isOp(op, EmbeddingUpdate) && op.attrs.table === config);
  const updated = updates.length > 0;
  // A gradient need not depend on the lookup it belongs to, so that lookup may be no part of the program.
  const lookups = new Set([
    ...context.ops.filter((op) => isOp(op, EmbeddingLookup) && op.attrs.table === config),
    ...updates.flatMap((op) => (op.attrs as EmbeddingUpdateAttrs).lookups.map((lookup) => lookup.op)),
  ]);
  for (const { inputs } of lookups) {
    for (const input of inputs[0]!.op.inputs) context.lower(input.op);
    context.lower(inputs[0]!.op);
  }
  const feeds = [...lookups]
    .filter((lookup) => lookup.inputs[0]!.spec.ragged)
    .map((lookup) => ({ lookup, ragged: context.ragged(lookup.inputs[0]!) }));
  const blocks = IdBlock.of(context, lookups);
  const capacity = [...feeds.map(({ ragged }) => ragged), ...blocks].reduce((sum, part) => sum + part.capacity, 0);

  const cells = context.environment.kernels.uniqueTableCells(capacity);
  const scratch = context.perSlice(cells * 16, 'unique table');
  // It is read before it is written: here that costs less than in the first step, where a page would be mapped twice.
  context.environment.views.u8.fill(0, scratch.base, scratch.base + scratch.sliceBytes * context.plan.slices);
  const generationCell = context.perSlice(64, 'generation');
  const ids = context.perSlice(capacity * 8, 'unique ids');
  const rows = context.perSlice(capacity * 4, 'rows');
  const generation = slice.each();
  context.emit(KERNEL.advanceGeneration, [generationCell.pointer, scratch.pointer, slice.constant(cells)], generation);

  const mask = slice.constant(cells - 1);
  let count = slice.constant(0);
  const features = new Map<Tensor, { inverse: Register; ragged: RaggedFeed }>();
  for (const { lookup, ragged } of feeds) {
    const inverse = context.perSlice(ragged.capacity * 4, `inverse ${lookup.name}`).pointer;
    const total = slice.each();
    context.emit(
      KERNEL.uniqueI64,
      [ragged.values, ragged.count, scratch.pointer, mask, generation, count, ids.pointer, inverse],
      total,
    );
    count = total;
    features.set(lookup.output, { inverse, ragged });
  }
  const uniqueScratch = { table: scratch.pointer, mask, generation, ids: ids.pointer, capacity };
  for (const block of blocks) count = block.unique(uniqueScratch, count);
  const gate = updated ? stepGate(context, config.name, table.gate) : {};
  const counts = gate.filter === undefined ? {} : { counts: lowerCounts(context, count, capacity, features, blocks) };
  const group = { table, ids, rows, count, capacity, features, blocks, gate, ...counts };
  if (BankedTable.needed(context, table)) {
    const banked = new BankedTable(context, table, capacity, writeGate(context, gate, capacity));
    const owners = lowerOwners(context, ids.pointer, count, capacity);
    const [order, offsets] = [owners.order.pointer, owners.offsets.pointer];
    banked.find({ ids: ids.pointer, order, offsets, rows: rows.pointer });
    return { ...group, shown: rows.pointer, owners, banked };
  }
  const tableAddress = slice.constant(table.address);
  const slots = updated && !table.isOnDevice ? context.perSlice(capacity * 4, 'slots') : undefined;
  const slotsPointer = slots?.pointer ?? slice.constant(0);
  context.emit(KERNEL.tableFind, [tableAddress, ids.pointer, count, rows.pointer, slotsPointer]);
  const shown = table.plan.plain ? rows.pointer : lowerRetrieve(context, table, ids.pointer, count, capacity);
  if (slots === undefined) return { ...group, shown };
  return { ...group, shown, owners: lowerOwners(context, ids.pointer, count, capacity), slots };
}

/** Counts how often each unique id of a slice came, over all features of the table. */
function lowerCounts(
  context: LoweringContext,
  count: Register,
  capacity: number,
  features: TableGroup['features'],
  blocks: readonly IdBlock[],
): PerSlice {
  const counts = context.perSlice(capacity * 4, 'counts');
  const one = context.slice.constant(1);
  context.emit(KERNEL.zeroRowsF32, [counts.pointer, one, count, one]);
  for (const { inverse, ragged } of features.values()) {
    context.emit(KERNEL.countInverseU32, [inverse, ragged.count, counts.pointer]);
  }
  for (const block of blocks) block.count(counts.pointer);
  return counts;
}

/** Groups the unique ids of a slice by partition. */
function lowerOwners(context: LoweringContext, ids: Register, count: Register, capacity: number) {
  const order = context.perSlice(capacity * 4, 'order');
  const offsets = context.perSlice((PARTITIONS + 1) * 4, 'offsets');
  const partitions = context.slice.constant(PARTITIONS);
  context.emit(KERNEL.partitionByHash, [ids, count, partitions, order.pointer, offsets.pointer]);
  return { order, offsets };
}

/** What lookups of a quantizing table show, one after the other; returns the addresses of them, which never change. */
function lowerRetrieve(
  context: LoweringContext,
  table: HashTable,
  ids: Register,
  count: Register,
  capacity: number,
): Register {
  const { slice, plan, environment } = context;
  const stride = Math.ceil(table.dim / 4) * 4;
  const shown = context.perSlice(capacity * stride * 4, 'shown rows');
  const addresses = context.perSlice(capacity * 4, 'addresses of shown rows');
  for (let s = 0; s < plan.slices; s++) {
    const at = (addresses.base + s * addresses.sliceBytes) / 4;
    const first = shown.base + s * shown.sliceBytes;
    for (let i = 0; i < capacity; i++) environment.views.u32[at + i] = first + i * stride * 4;
  }
  const scratch = context.perSlice(LOOKUP_SCRATCH_BYTES, 'retrieve scratch').pointer;
  const address = slice.constant(table.address);
  context.emit(KERNEL.tableRetrieve, [address, ids, count, shown.pointer, slice.constant(stride), scratch]);
  return addresses.pointer;
}

registerLowering(
  EmbeddingLookup,
  (op, context) => {
    const group = groupOf(context, op.attrs.table);
    const feature = group.features.get(op.output);
    if (feature === undefined) return;
    const out = context.output(op.output);
    emitPool(context, op.attrs.pooling, feature, group.shown, group.table.dim, out);
  },
  { strided: true, accumulates: (op) => !op.inputs[0]!.spec.ragged, spreads: (op) => !op.inputs[0]!.spec.ragged },
);

registerLowering(EmbeddingUpdate, lowerUpdate, {
  phase: { runs: 'update', slicesFirst: true },
  addsUp: (op, input) => op.attrs.lookups[input]!,
  takesParts: (op, input) => !op.attrs.lookups[input]!.op.inputs[0]!.spec.ragged,
});

function lowerUpdate(op: Op<EmbeddingUpdateAttrs>, context: LoweringContext): void {
  const { table: config, lookups } = op.attrs;
  const group = groupOf(context, config);
  const { slice, thread, plan } = context;
  const { dim } = group.table;
  if (group.table.plan.serving)
    throw new MonolithError('ML_TABLE_SERVING', { operation: 'Optimize', table: config.name });
  const strideFloats = Math.ceil(dim / 4) * 4;
  const sums = context.perSlice(group.capacity * strideFloats * 4, 'gradient sums');
  const [dimRegister, stride] = [slice.constant(dim), slice.constant(strideFloats)];
  context.emit(KERNEL.zeroRowsF32, [sums.pointer, stride, group.count, dimRegister]);
  lookups.forEach((lookup, index) => {
    const feature = group.features.get(lookup);
    if (feature === undefined) return;
    const grad = context.matrix(op.inputs[index]!);
    const { pooling } = lookup.op.attrs as EmbeddingLookupAttrs;
    emitPoolGradient(context, pooling, feature, grad, dim, [sums.pointer, stride]);
  });
  for (const block of group.blocks) {
    const grads = lookups.map((lookup, index) => [op.inputs[index]!, lookup] as const);
    block.scatter(
      grads.filter(([, lookup]) => block.has(lookup)),
      sums.pointer,
      stride,
    );
  }

  // A table on a device needs no owners of partitions.
  const { order, offsets } = group.owners ?? {};
  const records = context.alloc(APPLY_SLICE_BYTES * plan.slices, 'slices');
  for (let s = 0; s < plan.slices; s++) {
    const at = (part: PerSlice | undefined) => (part === undefined ? 0 : part.base + s * part.sliceBytes);
    const words = [
      ...[group.ids, order, offsets, group.rows, sums].map(at),
      strideFloats,
      at(group.slots),
      at(group.counts),
    ];
    context.environment.views.u32.set(words, (records + s * APPLY_SLICE_BYTES) / 4);
  }
  const share = (index: number) => Math.floor((PARTITIONS * index) / plan.threads);
  const [first, end] = [thread.each(share), thread.each((index) => share(index + 1))];
  if (group.banked !== undefined) {
    group.banked.apply(first, end, records);
    return;
  }
  const tableRegister = thread.constant(group.table.address);
  const updates = [tableRegister, first, end, thread.constant(records), thread.constant(plan.slices)];
  const { filter, touched } = group.gate;
  if (filter !== undefined) {
    const addresses = [thread.constant(filter.pointer), thread.constant(filter.thresholds)];
    context.emitThread(KERNEL.tableAdmit, [...updates, ...addresses]);
  }
  const mergedBytes = Math.ceil((group.capacity * plan.slices * 4) / 64) * 64;
  const merged = context.alloc(mergedBytes * plan.threads, 'merged rows');
  context.emitThread(
    KERNEL.tableApply,
    [...updates, thread.each((index) => merged + index * mergedBytes), thread.constant(TIME_UNKNOWN)],
    { checked: true },
  );
  if (touched === undefined) return;
  const bufferBytes = Math.ceil((TOUCHED_SCRATCH_BYTES + group.capacity * 8) / 64) * 64;
  const buffers = context.alloc(bufferBytes * plan.threads, 'touched ids');
  context.emitThread(
    KERNEL.tableTouch,
    [
      ...updates,
      thread.constant(touched.pointer),
      thread.constant(touched.tableIndex),
      thread.each((index) => buffers + index * bufferBytes),
    ],
    { checked: true },
  );
}
