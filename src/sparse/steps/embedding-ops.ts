/**
 * @file Graph ops of embedding tables: the pooled lookup of a feature and the update of a table, with their lowerings.
 *
 * All features of one table are made unique together, once per slice; their gradients are summed per unique id in the
 * slice, and the owner of the id's partition adds the slices up and steps the row. What is only read is not stepped.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { neededOps } from '../../graph/check-ops-dependence.js';
import { misfit, type Op, type OpDef, type Tensor } from '../../graph/graph.js';
import { StopGradient } from '../../graph/ops/cast.js';
import type { OpOptions } from '../../graph/ops/options.js';
import { type Ids, type Int64PerExample, tensorOfIds, tensorOfInt64 } from '../../graph/typed-inputs.js';
import { APPLY_SLICE_BYTES, PARTITIONS } from '../../memory/table-layout.js';
import { TOUCHED_SCRATCH_BYTES } from '../../memory/touched-layout.js';
import type { Register } from '../../runtime/compile/code.js';
import { type LoweringContext, type PerLease, registerLowering } from '../../runtime/compile/lowering.js';
import { phaseOf } from '../../runtime/compile/lowering-traits.js';
import { KERNEL } from '../../runtime/kernels/kernels.js';
import type { TableConfig } from '../config/table-config.js';
import { tableDim } from '../config/table-plan.js';
import { type GradientSums, lowerSums } from './gradient-sums.js';
import { emitPool, emitPoolGradient, type Pooling, pooledColumns, pooledShape } from './pooling.js';
import { checkRequestTime, lowerRequestTime, sharedRequestTime } from './request-time.js';
import { lowerAsk, lowerFind, lowerGroup, type TableGroup } from './table-group.js';

/** Collection of the tables a graph uses. */
export const TABLES = 'tables';

declare module '../../graph/graph.js' {
  interface Collections {
    readonly tables: TableConfig;
  }
}

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

export interface LookupOptions extends OpOptions {
  /** How the rows of an example become one. Default: `sum`. */
  readonly pooling?: Pooling | undefined;
}

/**
 * The embeddings of each example's ids: their sum or mean, `[batch, dim]`, or the first n of them, `[batch, n, dim]`.
 * `ids` is a ragged placeholder, or columns of one with a number of ids per example, whose sums are faster. Absent ids count
 * as zeros and are not inserted.
 */
export function embeddingLookup(ids: Ids, table: TableConfig, options: LookupOptions = {}): Tensor {
  const { pooling = 'sum', name } = checkOptions('embeddingLookup', options, ['pooling', 'name']);
  const { graph } = ids;
  const known = graph.getCollection(TABLES).find(({ name }) => name === table.name);
  if (known === undefined) graph.addToCollection(TABLES, table);
  else if (known !== table) throw misfit(table.name, 'another table has this name: use one config object for both');
  return graph.add(EmbeddingLookup, [tensorOfIds(ids)], { table, pooling }, name ?? `embedding/${ids.op.name}`).output;
}

export interface EmbeddingUpdateAttrs {
  readonly table: TableConfig;
  /** The lookups the gradients belong to, in order. */
  readonly lookups: readonly Tensor[];
}

/** Inputs: a gradient for each lookup, and the request time where there is one. */
export const EmbeddingUpdate: OpDef<EmbeddingUpdateAttrs> = {
  type: 'EmbeddingUpdate',
  infer: (inputs, { table, lookups }) => {
    const [grads, [time]] = [inputs.slice(0, lookups.length), inputs.slice(lookups.length)];
    if (time !== undefined) checkRequestTime(time);
    if (grads.length !== lookups.length) throw misfit('EmbeddingUpdate', 'one gradient per lookup is needed');
    for (const [index, { columns }] of grads.entries()) {
      const { pooling } = lookups[index]!.op.attrs as EmbeddingLookupAttrs;
      const wanted = pooledColumns(pooling, tableDim(table));
      if (columns !== wanted) throw misfit('EmbeddingUpdate', `a gradient has ${columns} columns, not ${wanted}`);
    }
    return [];
  },
};

export interface EmbeddingUpdateOptions {
  /** Unix seconds of each example: the latest of the batch becomes the time of the rows it updates, by which they expire. */
  readonly reqTime?: Int64PerExample | undefined;
}

/**
 * Applies the gradients of lookups to their tables: one op per table.
 *
 * ```ts
 * const steps = applyEmbeddingGradients([[grad, lookup]], { reqTime: inputs.req_time });
 * ```
 */
export function applyEmbeddingGradients(
  gradsAndLookups: readonly (readonly [Tensor | undefined, Tensor])[],
  options: EmbeddingUpdateOptions = {},
): Op[] {
  const { reqTime } = checkOptions('applyEmbeddingGradients', options, ['reqTime']);
  const times = reqTime === undefined ? [] : [tensorOfInt64(reqTime)];
  const byTable = new Map<TableConfig, (readonly [Tensor, Tensor])[]>();
  for (const [grad, lookup] of gradsAndLookups) {
    if (grad === undefined) {
      throw misfit(lookup.name, 'it has no gradient: what was differentiated does not depend on it');
    }
    const { table } = (lookup.op as Op<{ readonly table: TableConfig }>).attrs;
    const list = byTable.get(table);
    if (list === undefined) byTable.set(table, [[grad, lookup]]);
    else list.push([grad, lookup]);
  }
  return [...byTable].map(([table, pairs]) => {
    const attrs = { table, lookups: pairs.map(([, lookup]) => lookup) };
    const grads = pairs.map(([grad]) => grad);
    return pairs[0]![1].graph.add(EmbeddingUpdate, [...grads, ...times], attrs, `update/${table.name}`) as Op;
  });
}

type Update = Op<EmbeddingUpdateAttrs>;

/** The group of a table with what updates it. Together they step an id once, so the last of them to be lowered applies. */
interface UpdatedGroup extends TableGroup {
  readonly waiting: Set<Update>;
  readonly time: Tensor | undefined;
  sums: GradientSums | undefined;
}

function groupOf(context: LoweringContext, config: TableConfig): UpdatedGroup {
  return context.shared(config, () => {
    const updates = context.ops.filter((op) => isOp(op, EmbeddingUpdate) && op.attrs.table === config) as Update[];
    // A gradient need not depend on the lookup it belongs to, so that lookup may be no part of the program.
    const trained = new Set(updates.flatMap(({ attrs }) => attrs.lookups.map(({ op }) => op)));
    const lookups = context.ops.filter((op) => isOp(op, EmbeddingLookup) && op.attrs.table === config);
    const read = lookups.filter((op) => !trained.has(op));
    if (updates.length === 0 && context.trains) warnUntrained(context, config, lookups);
    const group = lowerGroup(context, config, { trained: [...trained], read });
    // What is shown of all features of a block is written at once, with the first of them.
    for (const block of group.blocks) {
      const shown = lookups.map(({ output }) => output).filter((output) => block.has(output));
      if (shown.length > 0) block.gather(group.shown, shown);
    }
    return { ...group, waiting: new Set(updates), time: sharedRequestTime(updates as Op[], timeOf), sums: undefined };
  });
}

/** Warns, once in a session, of a table that a training step reads to make gradients and leaves as it is. */
function warnUntrained({ ops, environment }: LoweringContext, { name }: TableConfig, lookups: readonly Op[]): void {
  const updates = ops.filter((op) => phaseOf(op).runs === 'update');
  const needed = neededOps(updates, (op) => (isOp(op, StopGradient) ? [] : op.inputs));
  if (!lookups.some((lookup) => needed.has(lookup))) return;
  const warned = environment.resource(WARNED, () => new Set<string>());
  if (warned.has(name)) return;
  warned.add(name);
  process.emitWarning(`table ${name} is read by a training step and not trained by it`, {
    code: 'ML_TABLE_UNTRAINED',
    type: 'MonolithWarning',
    detail:
      'give its columns to featureColumns, or its lookups to applyEmbeddingGradients; stopGradient says that it is meant',
  });
}
const WARNED = {};

function isOp<A>(op: Op, def: OpDef<A>): op is Op<A> & Op {
  return op.def === (def as OpDef<unknown>);
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
  learns: true,
  phase: { runs: 'update', slicesFirst: true },
  isPushed: true,
  addsUp: (op, input) => op.attrs.lookups[input]!,
  takesParts: (op, input) => !op.attrs.lookups[input]!.op.inputs[0]!.spec.ragged,
});

const timeOf = (op: Op): Tensor | undefined => op.inputs[(op.attrs as EmbeddingUpdateAttrs).lookups.length];

function lowerUpdate(op: Update, context: LoweringContext): void {
  const { table: config, lookups } = op.attrs;
  const group = groupOf(context, config);
  if (group.table.plan.serving)
    throw new MonolithError('ML_TABLE_SERVING', { operation: 'Optimize', table: config.name });
  group.sums ??= lowerSums(context, group);
  const { sums } = group;
  if (group.leased !== undefined) group.leased.gradients = sums;
  lookups.forEach((lookup, index) => {
    const feature = group.features.get(lookup);
    if (feature === undefined) return;
    const grad = context.matrix(op.inputs[index]!);
    const { pooling } = lookup.op.attrs as EmbeddingLookupAttrs;
    emitPoolGradient(context, pooling, feature, grad, group.table.dim, sums);
  });
  for (const block of group.blocks) {
    const grads = lookups.map((lookup, index) => [op.inputs[index]!, lookup] as const);
    const own = grads.filter(([, lookup]) => block.has(lookup));
    if (own.length > 0) block.scatter(own, sums);
  }
  for (const other of group.waiting) {
    if (context.finishTogether(op as Op, other as Op)) continue;
    throw misfit(other.name, `${op.name} steps its table before it: give one applyEmbeddingGradients all gradients`);
  }
  group.waiting.delete(op);
  if (group.waiting.size > 0) return;
  context.inPart('push', () =>
    lowerApply(context, context.cut === undefined ? group : foundAgain(context, group), sums),
  );
}

/** A cut step has copies of rows: those to step are found when the gradients are there, and the filter is asked then. */
function foundAgain(context: LoweringContext, group: UpdatedGroup): UpdatedGroup {
  if (group.banked !== undefined) return group;
  const slots = context.perLease(group.capacity * 4, 'slots');
  lowerFind(context, group, group.trained, slots);
  lowerAsk(context, group, slots.pointer);
  return { ...group, slots };
}

/** Where the records of slices are that kernels of updates take: a list for each lease. */
function writeRecords(context: LoweringContext, group: TableGroup, sums: PerLease): Register {
  const { thread, plan, leases } = context;
  // A table in another memory needs no owners of partitions.
  const { order, offsets } = group.owners ?? {};
  const records = context.alloc(APPLY_SLICE_BYTES * plan.slices * leases, 'slices');
  for (let s = 0; s < plan.slices * leases; s++) {
    const [slice, lease] = [s % plan.slices, Math.floor(s / plan.slices)];
    const at = (part: PerLease | undefined) => part?.at(slice, lease) ?? 0;
    const words = [
      ...[group.ids, order, offsets, group.rows, sums].map(at),
      Math.ceil(group.table.dim / 4) * 4,
      at(group.slots),
      at(group.counts),
    ];
    context.environment.views.u32.set(words, (records + s * APPLY_SLICE_BYTES) / 4);
  }
  return thread.each((_, lease) => records + lease * plan.slices * APPLY_SLICE_BYTES);
}

/** Steps the rows by the sums of all slices. */
function lowerApply(context: LoweringContext, group: UpdatedGroup, sums: PerLease): void {
  const { thread, plan } = context;
  const slices = writeRecords(context, group, sums);
  const share = (index: number) => Math.floor((PARTITIONS * index) / plan.threads);
  const [first, end] = [thread.each(share), thread.each((index) => share(index + 1))];
  const { filter, touched } = group.gate;
  if (filter !== undefined) {
    // Cells of a filter go to who comes first: one thread counts for all, or the result would depend on how many there are.
    context.emitThread(KERNEL.filterCount, {
      partitions: thread.constant(PARTITIONS),
      filter: thread.constant(filter.pointer),
      thresholds: thread.constant(filter.thresholds),
      slices,
      sliceCount: thread.each((index) => (index === 0 ? plan.slices : 0)),
    });
  }
  if (group.banked !== undefined) {
    group.banked.apply(first, end, slices, lowerRequestTime(context, group.time));
    return;
  }
  const table = thread.constant(group.table.address);
  const sliceCount = thread.constant(plan.slices);
  const updates = { table, first, end, slices, sliceCount };
  if (filter !== undefined) context.emitThread(KERNEL.tableAdmit, updates);
  const mergedBytes = Math.ceil((group.capacity * plan.slices * 4) / 64) * 64;
  const merged = context.alloc(mergedBytes * plan.threads, 'merged rows');
  context.emitThread(
    KERNEL.tableApply,
    {
      ...updates,
      merged: thread.each((index) => merged + index * mergedBytes),
      timeSec: lowerRequestTime(context, group.time),
    },
    { checked: true },
  );
  if (touched === undefined) return;
  const bufferBytes = Math.ceil((TOUCHED_SCRATCH_BYTES + group.capacity * 8) / 64) * 64;
  const buffers = context.alloc(bufferBytes * plan.threads, 'touched ids');
  context.emitThread(
    KERNEL.tableTouch,
    {
      ...updates,
      set: thread.constant(touched.pointer),
      tableIndex: thread.constant(touched.tableIndex),
      buffer: thread.each((index) => buffers + index * bufferBytes),
    },
    { checked: true },
  );
}
