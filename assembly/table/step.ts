// Steps of optimizers on rows that are found, once their gradients are known to be finite.
import { segmentAt } from "./index";
import { FLOAT, V1, V2, V3 } from "../units";
import {
  BAD_GRADIENTS, OPTIMIZER_NUMBER, PARAMETER_BLOCK, RETRIEVER, SEGMENT, SEGMENT_FLAG, TABLE,
} from "../generated/layouts";
import { stepFtrl } from "../dense/ftrl";
import { adagradStep, sgdStep } from "../dense/optimizers";
import { adamStep } from "../optim/adam";
import { roundingKey, roundToHalfF32 } from "../optim/decorate";
import { divisor } from "../optim/lanes";
import { applyOptimizerF32 } from "../optim/step";
import { EXPONENT, isFinite4, isFiniteRow, largerExponents } from "./finite";
import { gradientAt, idAt, rowAt } from "./listing";
import { backward, renewScale } from "./retriever";

/** True when an optimizer of the table takes no step at its global step: batch_softmax, before step 0. */
export function refusesStep(table: usize): bool {
  const segments = load<u32>(table, TABLE.segments);
  for (let s: u32 = 0; s < segments; s++) {
    const segment = segmentAt(table, s);
    if (
      load<i32>(segment, SEGMENT.optimizer) == OPTIMIZER_NUMBER.batchSoftmax &&
      load<i64>(segment, SEGMENT.parameters + PARAMETER_BLOCK.globalStep) < 0
    ) {
      return true;
    }
  }
  return false;
}

/** Raises the time of the table's last update. */
export function raiseUpdateTime(table: usize, timeSec: u32): void {
  let seen = atomic.load<i64>(table, TABLE.maxUpdateTime);
  while (<i64>timeSec > seen) {
    const before = atomic.cmpxchg<i64>(table, seen, <i64>timeSec, TABLE.maxUpdateTime);
    if (before == seen) return;
    seen = before;
  }
}

/** The largest time of an update so far, as rows keep it. */
export function latestUpdate(table: usize): u32 {
  return <u32>min<i64>(max<i64>(atomic.load<i64>(table, TABLE.maxUpdateTime), 0), 0xffffffff);
}

/** Counts a bad gradient; false when the table fails on it. */
export function passesBadGradient(table: usize): bool {
  atomic.add<u32>(table, 1, TABLE.badGradientRows);
  return load<u32>(table, TABLE.badGradients) != BAD_GRADIENTS.fail;
}

/** Steps the weights of one segment of a row, whatever its retriever, optimizer and rounding. */
function stepSegment(table: usize, segment: usize, w: usize, state: usize, gradient: usize, id: i64): void {
  const dim = load<i32>(segment, SEGMENT.dim);
  backward(segment, w, gradient);
  applyOptimizerF32(load<i32>(segment, SEGMENT.optimizer), w, state, gradient, dim, segment + SEGMENT.parameters);
  if ((load<u32>(segment, SEGMENT.flags) & SEGMENT_FLAG.roundsToHalf) == 0) return;
  roundToHalfF32(
    w, dim, roundingKey(load<u32>(table, TABLE.seed), id, load<i64>(segment, SEGMENT.drawStep)),
    load<u32>(segment, SEGMENT.weightOffset),
  );
}

/** Steps every segment of the row of `id`. */
export function stepRow(table: usize, row: usize, gradient: usize, id: i64): void {
  const states = row + (<usize>load<u32>(table, TABLE.dim) << 2);
  const segments = load<u32>(table, TABLE.segments);
  for (let s: u32 = 0; s < segments; s++) {
    const segment = segmentAt(table, s);
    const offset = <usize>load<u32>(segment, SEGMENT.weightOffset) << 2;
    renewScale(segment);
    stepSegment(
      table, segment, row + offset, states + (<usize>load<u32>(segment, SEGMENT.stateOffset) << 2), gradient + offset,
      id,
    );
  }
}

/**
 * Steps one segment of all rows of a list, whose gradients are finite. What the segment is decides which loop runs, not
 * what each row does: the common optimizers without a retriever have loops of their own, Adagrad two.
 */
@inline
function stepColumn<L>(
  table: usize, segment: usize, list: usize, end: usize, ids: usize, rows: usize, gradients: usize, strideBytes: usize,
): void {
  const dim = load<i32>(segment, SEGMENT.dim);
  const offset = <usize>load<u32>(segment, SEGMENT.weightOffset) << 2;
  const state = (<usize>load<u32>(table, TABLE.dim) + <usize>load<u32>(segment, SEGMENT.stateOffset)) << 2;
  const optimizer = load<i32>(segment, SEGMENT.optimizer);
  const lr = load<f32>(segment, SEGMENT.parameters + PARAMETER_BLOCK.rate);
  const a = load<f32>(segment, SEGMENT.parameters + PARAMETER_BLOCK.values);
  const b = load<f32>(segment, SEGMENT.parameters + PARAMETER_BLOCK.values + FLOAT);
  const c = load<f32>(segment, SEGMENT.parameters + PARAMETER_BLOCK.values + 2 * FLOAT);
  const d = load<f32>(segment, SEGMENT.parameters + PARAMETER_BLOCK.values + 3 * FLOAT);
  // Rounding, one_bit, nesterov, another l1 or another decay: all of them take the long way.
  const special = load<u32>(segment, SEGMENT.flags) != 0 ||
    load<u32>(segment, SEGMENT.retriever) == RETRIEVER.oneBit ||
    load<u32>(segment, SEGMENT.parameters + PARAMETER_BLOCK.flags) != 0;
  if (!special && optimizer == OPTIMIZER_NUMBER.adagrad && a == 0) {
    for (let q = list; q < end; q += 4) {
      const row = rowAt<L>(q, rows);
      const gradient = gradientAt<L>(q, list, gradients, strideBytes) + offset;
      adagradStep(row + offset, row + state, gradient, dim, lr, a, false);
    }
  } else if (!special && optimizer == OPTIMIZER_NUMBER.adagrad) {
    for (let q = list; q < end; q += 4) {
      const row = rowAt<L>(q, rows);
      const gradient = gradientAt<L>(q, list, gradients, strideBytes) + offset;
      adagradStep(row + offset, row + state, gradient, dim, lr, a, true);
    }
  } else if (!special && optimizer == OPTIMIZER_NUMBER.sgd) {
    for (let q = list; q < end; q += 4) {
      sgdStep(rowAt<L>(q, rows) + offset, gradientAt<L>(q, list, gradients, strideBytes) + offset, dim, lr);
    }
  } else if (!special && optimizer == OPTIMIZER_NUMBER.ftrl) {
    const zero = state + (<usize>dim << 2);
    for (let q = list; q < end; q += 4) {
      const row = rowAt<L>(q, rows);
      const gradient = gradientAt<L>(q, list, gradients, strideBytes) + offset;
      stepFtrl(row + offset, row + state, row + zero, gradient, dim, lr, a, b, c, false);
    }
  } else if (!special && optimizer == OPTIMIZER_NUMBER.adam) {
    const epsilon = divisor<f32>(d);
    for (let q = list; q < end; q += 4) {
      const row = rowAt<L>(q, rows);
      const gradient = gradientAt<L>(q, list, gradients, strideBytes) + offset;
      adamStep(row + offset, row + state, gradient, dim, lr, a, b, c, epsilon, false, false);
    }
  } else {
    renewScale(segment);
    for (let q = list; q < end; q += 4) {
      const row = rowAt<L>(q, rows);
      const gradient = gradientAt<L>(q, list, gradients, strideBytes) + offset;
      stepSegment(table, segment, row + offset, row + state, gradient, idAt<L>(q, list, ids));
    }
  }
}

/** True when each gradient of a list is finite: one test for all of them. */
@inline
function areFinite<L>(list: usize, end: usize, dim: u32, gradients: usize, strideBytes: usize): bool {
  const blocks = <usize>(dim & ~15) << 2;
  const body = <usize>(dim & ~3) << 2;
  const bytes = <usize>dim << 2;
  let a = i32x4.splat(0), b = a;
  let tail: u32 = 0;
  for (let q = list; q < end; q += 4) {
    const gradient = gradientAt<L>(q, list, gradients, strideBytes);
    let c: usize = 0;
    for (; c < blocks; c += 64) {
      a = largerExponents(a, v128.load(gradient + c));
      b = largerExponents(b, v128.load(gradient + c, V1));
      a = largerExponents(a, v128.load(gradient + c, V2));
      b = largerExponents(b, v128.load(gradient + c, V3));
    }
    for (; c < body; c += 16) a = largerExponents(a, v128.load(gradient + c));
    for (; c < bytes; c += 4) tail = max<u32>(tail, load<u32>(gradient + c) & EXPONENT);
  }
  return tail != EXPONENT && isFinite4(i32x4.max_s(a, b));
}

/**
 * Steps the rows of a list by their gradients, those with a gradient that is NaN or infinite excepted. Segment by
 * segment over a few rows, not row by row: the long chains of one optimizer, roots and divisions, then overlap between
 * rows. False when the table fails on a bad gradient: the rows before it are stepped.
 */
@inline
export function stepList<L>(
  table: usize, list: usize, end: usize, ids: usize, rows: usize, gradients: usize, strideBytes: usize,
): bool {
  const dim = load<u32>(table, TABLE.dim);
  if (areFinite<L>(list, end, dim, gradients, strideBytes)) {
    const segments = load<u32>(table, TABLE.segments);
    for (let s: u32 = 0; s < segments; s++) {
      stepColumn<L>(table, segmentAt(table, s), list, end, ids, rows, gradients, strideBytes);
    }
    return true;
  }
  for (let q = list; q < end; q += 4) {
    const gradient = gradientAt<L>(q, list, gradients, strideBytes);
    if (isFiniteRow(gradient, dim)) stepRow(table, rowAt<L>(q, rows), gradient, idAt<L>(q, list, ids));
    else if (!passesBadGradient(table)) return false;
  }
  return true;
}
