// Steps of optimizers on rows that are found.
import { applyAdagradF32, applyFtrlF32, applySgdF32 } from "../dense";

const ADAGRAD: u32 = 1;
const SGD: u32 = 2;

/** Steps the weights `w` of one segment of a row, whose state begins at `state`. */
// @ts-ignore: decorator
@inline export function stepSegment(segment: usize, w: usize, state: usize, gradient: usize): void {
  const dim = load<u32>(segment);
  const optimizer = load<u32>(segment, 24);
  const lr = load<f32>(segment, 64);
  if (optimizer == SGD) applySgdF32(w, gradient, dim, lr);
  else if (optimizer == ADAGRAD) applyAdagradF32(w, state, gradient, dim, lr, load<f32>(segment, 76));
  else {
    const a = load<f32>(segment, 76), b = load<f32>(segment, 80), c = load<f32>(segment, 84);
    applyFtrlF32(w, state, state + (<usize>dim << 2), gradient, dim, lr, a, b, c);
  }
}

/**
 * Steps n rows, the i-th by the i-th gradient. Segment by segment over a few rows, not row by row: the long chains of one
 * optimizer, roots and divisions, then overlap between rows.
 */
export function stepRows(table: usize, rows: usize, n: u32, gradients: usize, strideBytes: usize): void {
  const states = <usize>load<u32>(table, 4) << 2;
  const segments = load<u32>(table, 16);
  const end = rows + (<usize>n << 2);
  for (let s: u32 = 0; s < segments; s++) {
    const segment = table + 64 + (<usize>s << 7);
    const offset = <usize>load<u32>(segment, 4) << 2;
    const state = states + (<usize>load<u32>(segment, 8) << 2);
    let gradient = gradients + offset;
    for (let q = rows; q < end; q += 4) {
      const row = <usize>load<u32>(q);
      stepSegment(segment, row + offset, row + state, gradient);
      gradient += strideBytes;
    }
  }
}
