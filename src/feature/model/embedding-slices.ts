/**
 * @file Looked-up rows of features, combined and cut into the slices a model asked for. Mirrors the slice assembly of
 * native_training's feature module.
 */
import { MonolithError } from '../../base/errors.js';
import { concatColumns } from '../../tensor/ops/reduce.js';
import { fusedReduceAndSplit, fusedReduceAndSplitGradient } from '../../tensor/ops/reduce-and-split.js';
import type { RaggedTensor } from '../../tensor/ragged-tensor.js';
import { Tensor } from '../../tensor/tensor.js';
import { type Combiner, ReduceSum } from './combiners.js';

type Floats = Tensor<'float32'>;

export interface LookedUpFeature {
  readonly key: RaggedTensor;
  /** One row per id of `key`. */
  readonly embedding: Floats;
  /** Widths of the slices, in order, before any merging. */
  readonly sliceDims: readonly number[];
  readonly combiner: Combiner;
}

/** `<feature>:<start>_<end>` */
export function sliceName(feature: string, start: number, end: number): string {
  return `${feature}:${start}_${end}`;
}

/** Slices by name. Features that are summed go through one fused op; the others are combined, then split. */
export function createEmbeddingSlices(features: Readonly<Record<string, LookedUpFeature>>): Map<string, Floats> {
  const slices = new Map<string, Floats>();
  const entries = Object.entries(features);
  for (const [name, { embedding, sliceDims }] of entries) checkWidth(name, embedding, sliceDims);
  const summed = entries.filter(([, { combiner }]) => combiner instanceof ReduceSum);
  const blocks = fusedReduceAndSplit(
    summed.map(([, { embedding }]) => embedding),
    summed.map(([, { key }]) => key.rowSplits),
    summed.map(([, { sliceDims }]) => sliceDims),
  );
  let next = 0;
  for (const [name, { key, embedding, sliceDims, combiner }] of entries) {
    const sums = combiner instanceof ReduceSum;
    const parts = sums
      ? blocks.slice(next, next + sliceDims.length)
      : splitLastAxis(combiner.combine(key, embedding), sliceDims);
    if (sums) next += sliceDims.length;
    forEachSlice(name, sliceDims, (slice, i) => slices.set(slice, parts[i]!));
  }
  return slices;
}

/**
 * Gradients with respect to the rows of each feature, from the gradients of its slices; a missing one counts as zero.
 */
export function embeddingSlicesGradient(
  features: Readonly<Record<string, LookedUpFeature>>,
  grads: ReadonlyMap<string, Floats>,
): Map<string, Floats> {
  return new Map(
    Object.entries(features).map(([name, { key, sliceDims, combiner }]) => {
      const lead = combiner.maxSeqLength === 0 ? [key.rowCount] : [key.rowCount, combiner.maxSeqLength];
      const rows = lead.reduce((product, dim) => product * dim, 1);
      const parts: Floats[] = [];
      forEachSlice(name, sliceDims, (slice, i) => {
        const given = grads.get(slice)?.data ?? new Float32Array(rows * sliceDims[i]!);
        parts.push(new Tensor('float32', [rows, sliceDims[i]!], given));
      });
      if (combiner instanceof ReduceSum) {
        return [name, fusedReduceAndSplitGradient([key.rowSplits], parts, [sliceDims])[0]!];
      }
      const whole = concatColumns('embeddingSlicesGradient', parts);
      return [name, combiner.gradient(key, whole.reshape([...lead, whole.shape[1]!]))];
    }),
  );
}

function forEachSlice(name: string, dims: readonly number[], visit: (slice: string, index: number) => void): void {
  let start = 0;
  dims.forEach((dim, i) => {
    visit(sliceName(name, start, start + dim), i);
    start += dim;
  });
}

function checkWidth(name: string, embedding: Floats, sliceDims: readonly number[]): void {
  const total = sliceDims.reduce((sum, dim) => sum + dim, 0);
  if (embedding.rank !== 2 || embedding.shape[1] !== total) {
    const reason = `rows of shape [${embedding.shape}] are not cut by slices of [${sliceDims}]`;
    throw new MonolithError('ML_OP', { op: `slices of ${name}`, reason });
  }
}

/** Column blocks of the last dimension. */
function splitLastAxis(tensor: Floats, dims: readonly number[]): Floats[] {
  const width = tensor.shape.at(-1)!;
  const rows = width === 0 ? 0 : tensor.size / width;
  let from = 0;
  return dims.map((dim) => {
    const out = new Float32Array(rows * dim);
    for (let r = 0; r < rows; r++) out.set(tensor.data.subarray(r * width + from, r * width + from + dim), r * dim);
    from += dim;
    return new Tensor('float32', [...tensor.shape.slice(0, -1), dim], out);
  });
}
