/**
 * @file Plain TypeScript twins of assembly/ops/gather: rows taken from where servers left them, and given back.
 *
 * Float results are the bits of the WASM version: one f32 rounding per operation, in the same order.
 */
import { RECORD_WORDS } from '../../../../memory/record-layout.js';
import type { Views } from '../../../../memory/views.js';

const { fround } = Math;

/** Rows of `dim` floats from fused[offset], for several outputs {offsets, rows, dim, out}. */
export function fusedGatherF32(m: Views, outputs: number, count: number, fused: number): void {
  forEachGathered(m, outputs, count, fused, (row, at) => {
    m.f32[row] = m.f32[at]!;
  });
}

/** fused[offset] += scale * row, for the same outputs. */
export function fusedGatherGradF32(m: Views, outputs: number, count: number, fused: number, scale: number): void {
  const factor = fround(scale);
  forEachGathered(m, outputs, count, fused, (row, at) => {
    m.f32[at] = m.f32[at]! + fround(factor * m.f32[row]!);
  });
}

function forEachGathered(
  m: Views,
  outputs: number,
  count: number,
  fused: number,
  visit: (row: number, at: number) => void,
): void {
  for (let k = 0; k < count; k++) {
    const record = outputs / 4 + k * RECORD_WORDS;
    const [offsets, rows, dim, out] = [...m.u32.subarray(record, record + 4)] as [number, number, number, number];
    for (let r = 0; r < rows; r++) {
      const at = fused / 4 + m.u32[offsets / 4 + r]!;
      for (let c = 0; c < dim; c++) visit(out / 4 + r * dim + c, at + c);
    }
  }
}
