/**
 * @file How lookups and updates of tables become kernel calls.
 *
 * All features of one table are made unique together, once per slice; their gradients are summed per unique id in the
 * slice, and the owner of the id's partition adds the slices up and steps the row. What is only read is not stepped.
 */
import { MonolithError } from '../../base/errors.js';
import { misfit, type Op, type OpDef, type Tensor } from '../../graph/graph.js';
import { type LoweringContext, registerLowering } from '../../runtime/compile/lowering.js';
import type { TableConfig } from '../config/table-config.js';
import { lowerApply } from './apply-rows.js';
import {
  EmbeddingLookup,
  type EmbeddingLookupAttrs,
  EmbeddingUpdate,
  type EmbeddingUpdateAttrs,
} from './embedding-defs.js';
import { type GradientSums, lowerSums } from './gradient-sums.js';
import { emitPool, emitPoolGradient } from './pooling.js';
import { sharedRequestTime } from './request-time.js';
import { lowerGroup, type TableGroup } from './table-group.js';
import { warnTimeless, warnUntrained } from './table-warnings.js';

type Update = Op<EmbeddingUpdateAttrs>;

/** The group of a table with what updates it: together they step an id once, so the last one lowered applies. */
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
    const time = sharedRequestTime(updates as Op[], timeOf);
    if (updates.length > 0 && time === undefined) warnTimeless(context, config);
    const group = lowerGroup(context, config, { trained: [...trained], read });
    // What is shown of all features of a block is written at once, with the first of them.
    for (const block of group.blocks) {
      const shown = lookups.map(({ output }) => output).filter((output) => block.has(output));
      if (shown.length > 0) block.gather(group.shown, shown);
    }
    return { ...group, waiting: new Set(updates), time, sums: undefined };
  });
}

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
  {
    strided: true,
    readsRows: true,
    accumulates: (op) => !op.inputs[0]!.spec.ragged,
    spreads: (op) => !op.inputs[0]!.spec.ragged,
  },
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
  lowerApply(context, group, sums, group.time);
}
