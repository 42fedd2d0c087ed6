/**
 * @file What a program says of its tables while it is compiled: things that are allowed, mostly slips, and shown by no
 * number. Each is said once in a session and table, as a warning of the process.
 */
import { neededOps } from '../../graph/check-ops-dependence.js';
import type { Op } from '../../graph/graph.js';
import { StopGradient } from '../../graph/ops/cast.js';
import { valueOr } from '../../io/message.js';
import type { LoweringContext } from '../../runtime/compile/lowering.js';
import { phaseOf } from '../../runtime/compile/lowering-traits.js';
import { SlotExpireTimeConfigMessage } from '../config/config-messages.js';
import type { TableConfig } from '../config/table-config.js';
import { FROZEN_TABLES } from './embedding-defs.js';

/** Warns of a table that a training step reads to make gradients and leaves as it is. */
export function warnUntrained(context: LoweringContext, { name }: TableConfig, lookups: readonly Op[]): void {
  const updates = context.ops.filter((op) => phaseOf(op).runs === 'update');
  const needed = neededOps(updates, (op) => (op.def === StopGradient ? [] : op.inputs));
  if (!lookups.some((lookup) => needed.has(lookup))) return;
  if (lookups[0]!.graph.getCollection(FROZEN_TABLES).includes(name)) return;
  warnOnce(context, 'ML_TABLE_UNTRAINED', name, {
    what: 'is read by a training step and not trained by it',
    todo:
      'give its columns to featureColumns, or its lookups to applyEmbeddingGradients; ' +
      'stopGradient says that it is meant',
  });
}

/** Warns of a table whose rows are to expire and whose steps have no time: none of them ever grows old. */
export function warnTimeless(context: LoweringContext, { name, instance }: TableConfig): void {
  const { slotExpireTimeConfig = {} } = instance.tableConfig;
  const never = valueOr(SlotExpireTimeConfigMessage, {}, 'defaultExpireTime');
  const days = [
    valueOr(SlotExpireTimeConfigMessage, slotExpireTimeConfig, 'defaultExpireTime'),
    ...(slotExpireTimeConfig.slotExpireTimes ?? []).map(({ expireTime = 0 }) => expireTime),
  ];
  const soonest = Math.min(...days);
  if (soonest >= never) return;
  warnOnce(context, 'ML_TABLE_TIMELESS', name, {
    what: `has rows that expire after ${soonest} days, and steps without a time: none of them grows old`,
    todo: 'give the time of the examples as reqTime, with applyEmbeddingGradients or applyGradientsWithVarOptimizer',
  });
}

const WARNED = {};

function warnOnce(
  { environment }: LoweringContext,
  code: string,
  table: string,
  { what, todo }: { readonly what: string; readonly todo: string },
): void {
  const warned = environment.resource(WARNED, () => new Set<string>());
  const key = `${code} ${table}`;
  if (warned.has(key)) return;
  warned.add(key);
  process.emitWarning(`table ${table} ${what}`, { code, type: 'MonolithWarning', detail: todo });
}
