/** @file Plain twin of assembly/table/step.ts: a step of a row, unless its gradient is NaN or infinite. */
import { OPTIMIZER_NUMBER, PARAMETER_BLOCK } from '../../../memory/optimizer-layout.js';
import { BAD_GRADIENTS, SEGMENT, SEGMENT_FLAG, TABLE } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { roundingKey, roundToHalfF32 } from './optim/decorate.js';
import { applyOptimizerF32 } from './optim/step.js';
import { backward, segmentsOf } from './table-retriever.js';

/** True when an optimizer takes no step at its global step: batch_softmax, before step 0. */
export function refusesStep(m: Views, table: number): boolean {
  for (const segment of segmentsOf(m, table)) {
    const step = m.i64[((segment + SEGMENT.parameters) * 4 + PARAMETER_BLOCK.globalStep) / 8]!;
    if (m.u32[segment + SEGMENT.optimizer] === OPTIMIZER_NUMBER.batchSoftmax && step < 0n) return true;
  }
  return false;
}

export function raiseUpdateTime(m: Views, table: number, timeSec: number): void {
  const word = table / 8 + TABLE.maxUpdateTime / 2;
  const time = BigInt(timeSec);
  for (let seen = Atomics.load(m.i64, word); time > seen; ) {
    const before = Atomics.compareExchange(m.i64, word, seen, time);
    if (before === seen) return;
    seen = before;
  }
}

/** The largest time of an update so far, as rows keep it. */
export function latestUpdate(m: Views, table: number): number {
  const time = Number(Atomics.load(m.i64, table / 8 + TABLE.maxUpdateTime / 2));
  return Math.min(Math.max(time, 0), 0xffffffff);
}

/** Steps every segment of the row of `id`. */
export function stepRow(m: Views, table: number, row: number, gradient: number, id: bigint): void {
  const states = row + m.u32[table / 4 + TABLE.dim]! * 4;
  for (const segment of segmentsOf(m, table)) {
    const dim = m.u32[segment + SEGMENT.dim]!;
    const offset = m.u32[segment + SEGMENT.weightOffset]! * 4;
    const state = states + m.u32[segment + SEGMENT.stateOffset]! * 4;
    const [w, g] = [row + offset, gradient + offset];
    backward(m, segment, w, g);
    applyOptimizerF32(m, m.u32[segment + SEGMENT.optimizer]!, w, state, g, dim, (segment + SEGMENT.parameters) * 4);
    const rounds = (m.u32[segment + SEGMENT.flags]! & SEGMENT_FLAG.roundsToHalf) !== 0;
    if (!rounds) continue;
    const key = roundingKey(m, m.u32[table / 4 + TABLE.seed]!, id, m.i64[(segment + SEGMENT.drawStep) / 2]!);
    roundToHalfF32(m, w, dim, key, m.u32[segment + SEGMENT.weightOffset]!);
  }
}

export type GradientCheck = 'good' | 'pass' | 'fail';

/** Looks at a gradient; a bad one is counted, and the table says whether it is passed over or ends the call. */
export function checkGradient(m: Views, table: number, gradient: number): GradientCheck {
  const dim = m.u32[table / 4 + TABLE.dim]!;
  if (m.f32.subarray(gradient / 4, gradient / 4 + dim).every(Number.isFinite)) return 'good';
  Atomics.add(m.u32, table / 4 + TABLE.badGradientRows, 1);
  return m.u32[table / 4 + TABLE.badGradients] === BAD_GRADIENTS.fail ? 'fail' : 'pass';
}

/** Steps the row of `id` if its gradient is finite. False when the table fails on the gradient. */
export function stepFinite(m: Views, table: number, row: number, gradient: number, id: bigint): boolean {
  const check = checkGradient(m, table, gradient);
  if (check === 'good') stepRow(m, table, row, gradient, id);
  return check !== 'fail';
}
