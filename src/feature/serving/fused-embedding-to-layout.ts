/**
 * @file Looked-up embeddings to the model's input tensors, and gradients of those back to the embeddings, in one pass.
 *
 * Mirrors fused_embedding_to_layout and its gradient. Sums run over the ids of a sample in order, slices in order of
 * the config, rows in order, so results repeat to the bit.
 */
import { MonolithError } from '../../base/errors.js';
import { POOLING_TYPE } from '../../io/example-messages.js';
import { Tensor } from '../../tensor/tensor.js';
import {
  type FeatureSpan,
  type LayoutEmbeddings,
  type LayoutOffsets,
  type LayoutRequest,
  layoutRequests,
  spanOf,
} from './layout-inputs.js';
import type { LayoutPlan, LayoutTask } from './layout-plan.js';

type Floats = Tensor<'float32'>;

/** The layouts of a batch: tensors in the order of `plan.outputs`. */
export function fusedEmbeddingToLayout(
  plan: LayoutPlan,
  embeddings: LayoutEmbeddings,
  offsets: LayoutOffsets,
): Floats[] {
  const outputs = layoutOutputs(plan, offsets.batchSize);
  for (const request of layoutRequests(plan, embeddings, offsets)) {
    const rows = resolveRows(plan, request);
    for (const task of plan.tasks) {
      const span = spanOf(request, task.feature.index);
      if (span !== null)
        forward(task, span, request, rows, outputs[task.output]!.data, plan.outputs[task.output]!.rowFloats);
    }
  }
  return outputs;
}

/** Gradients with respect to the embeddings, in their shapes. `scale` multiplies the layout gradients first. */
export function fusedEmbeddingToLayoutGradient(
  plan: LayoutPlan,
  embeddings: LayoutEmbeddings,
  offsets: LayoutOffsets,
  layoutGradients: readonly Floats[],
  scale = 1,
): Float32Array[] {
  checkGradients(plan, offsets.batchSize, layoutGradients);
  const gradients = embeddings.embeddings.map((data) => new Float32Array(data.length));
  const target = { ...embeddings, embeddings: gradients } as LayoutEmbeddings;
  for (const request of layoutRequests(plan, target, offsets)) {
    const rows = resolveRows(plan, request);
    for (const task of plan.tasks) {
      const span = spanOf(request, task.feature.index);
      const { rowFloats } = plan.outputs[task.output]!;
      if (span !== null)
        backward(task, span, request, rows, layoutGradients[task.output]!.data, rowFloats, Math.fround(scale));
    }
  }
  return gradients;
}

/** Zeroed outputs for a batch. */
export function layoutOutputs(
  { outputs }: LayoutPlan,
  batchSize: number,
  allocate: (count: number) => Float32Array = (count) => new Float32Array(count),
): Floats[] {
  return outputs.map(({ layout, dims, rowFloats, batchSize: fixed }) => {
    if (fixed !== -1 && fixed !== batchSize) {
      throw new MonolithError('ML_LAYOUT', { layout, reason: `its shape has ${fixed} rows, the batch ${batchSize}` });
    }
    return new Tensor('float32', [batchSize, ...dims], allocate(batchSize * rowFloats));
  });
}

export function checkGradients({ outputs }: LayoutPlan, batchSize: number, gradients: readonly Floats[]): void {
  const fits = outputs.every(({ rowFloats }, i) => gradients[i]?.size === batchSize * rowFloats);
  if (gradients.length !== outputs.length || !fits) {
    throw new MonolithError('ML_LAYOUT', {
      layout: 'gradient',
      reason: 'gradients do not have the shapes of the outputs',
    });
  }
}

/** For each id its source and the float its row begins at, checked to hold the row of its feature. */
interface Rows {
  readonly source: Int32Array;
  readonly at: Int32Array;
}

function resolveRows(plan: LayoutPlan, request: LayoutRequest): Rows {
  const { fidOffset, featureOffset, sources } = request;
  const words = new Uint32Array(fidOffset.buffer, fidOffset.byteOffset, fidOffset.length * 2);
  const rows = { source: new Int32Array(fidOffset.length), at: new Int32Array(fidOffset.length) };
  for (const { index, dim, name } of plan.order.features) {
    const span = spanOf(request, index);
    if (span === null) continue;
    const end = featureOffset[span.firstSample + span.sampleCount]!;
    for (let i = featureOffset[span.firstSample]!; i < end; i++) {
      const source = sources[words[2 * i + 1]!];
      const at = words[2 * i]! * (source?.unit ?? 0);
      if (source === undefined || at + dim > source.data.length || i >= fidOffset.length) throw outside(name, i);
      rows.source[i] = words[2 * i + 1]!;
      rows.at[i] = at;
    }
  }
  return rows;
}

/** An id whose row lies outside its embeddings: sharding and lookup disagree. */
export function outside(name: string, index: number): MonolithError {
  return new MonolithError('ML_LAYOUT', {
    layout: 'input',
    reason: `id ${index} of ${name} lies outside its embeddings`,
  });
}

function forward(
  { start, end, poolingType, maxSequenceLength, offset, positionStride }: LayoutTask,
  span: FeatureSpan,
  { featureOffset, batchSize, sources, firstRow }: LayoutRequest,
  rows: Rows,
  out: Float32Array,
  rowFloats: number,
): void {
  for (let b = 0; b < batchSize; b++) {
    const sample = span.firstSample + (span.shared ? 0 : b);
    const first = featureOffset[sample]!;
    const count = featureOffset[sample + 1]! - first;
    const used = poolingType === POOLING_TYPE.FIRSTN ? Math.min(count, maxSequenceLength) : count;
    const to = (firstRow + b) * rowFloats + offset;
    for (let k = 0; k < used; k++) {
      const { data } = sources[rows.source[first + k]!]!;
      const from = rows.at[first + k]! + start;
      for (let c = 0; c < end - start; c++) {
        const x = data[from + c]!;
        if (poolingType === POOLING_TYPE.FIRSTN) out[to + k * positionStride + c] = x;
        else out[to + c] = out[to + c]! + (poolingType === POOLING_TYPE.MEAN ? Math.fround(x / count) : x);
      }
    }
  }
}

function backward(
  { start, end, poolingType, maxSequenceLength, offset, positionStride }: LayoutTask,
  span: FeatureSpan,
  { featureOffset, batchSize, sources, firstRow }: LayoutRequest,
  rows: Rows,
  gradient: Float32Array,
  rowFloats: number,
  scale: number,
): void {
  for (let b = 0; b < batchSize; b++) {
    const sample = span.firstSample + (span.shared ? 0 : b);
    const first = featureOffset[sample]!;
    const count = featureOffset[sample + 1]! - first;
    const sequence = poolingType === POOLING_TYPE.FIRSTN;
    const used = sequence ? Math.min(count, maxSequenceLength) : count;
    const from = (firstRow + b) * rowFloats + offset;
    for (let k = 0; k < used; k++) {
      const { data } = sources[rows.source[first + k]!]!;
      const to = rows.at[first + k]! + start;
      for (let c = 0; c < end - start; c++) {
        const g = Math.fround(scale * gradient[from + (sequence ? k * positionStride : 0) + c]!);
        data[to + c] = data[to + c]! + (poolingType === POOLING_TYPE.MEAN ? Math.fround(g / count) : g);
      }
    }
  }
}
