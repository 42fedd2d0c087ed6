/**
 * @file The layout op by kernels over a shared memory: same results, to the bit, as the plain form.
 *
 * Arrays that lie in the memory are used in place, others are copied in. Results are views taken from the arena, good
 * until the caller releases it.
 */
import type { WasmMemory } from '../../base/wasm-types.js';
import type { Arena } from '../../memory/arena.js';
import { LAYOUT_SOURCE, RECORD_WORDS, wordsOf } from '../../memory/record-layout.js';
import { view } from '../../memory/views.js';
import type { OpsKernels } from '../../runtime/backends/wasm/calls/ops.js';
import type { Tensor } from '../../tensor/tensor.js';
import { checkGradients, layoutOutputs, outside } from './fused-embedding-to-layout.js';
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

/**
 * The layout op of `plan` by kernels, in the memory of a session or of tables.
 *
 * ```ts
 * const { kernels, memory, arena } = sessionRegion(session);
 * const layout = new KernelLayout(compileLayout(configs, 1), kernels, memory, arena);
 * const tensors = layout.forward(embeddings, sharded);
 * ```
 */
export class KernelLayout {
  readonly #plan: LayoutPlan;
  readonly #kernels: OpsKernels;
  readonly #buffer: SharedArrayBuffer;
  readonly #arena: Arena;

  constructor(plan: LayoutPlan, kernels: OpsKernels, memory: WasmMemory, arena: Arena) {
    this.#plan = plan;
    this.#kernels = kernels;
    this.#buffer = memory.buffer;
    this.#arena = arena;
  }

  forward(embeddings: LayoutEmbeddings, offsets: LayoutOffsets): Floats[] {
    const outputs = layoutOutputs(this.#plan, offsets.batchSize, (count) => this.#zeros(count));
    this.#forEachTask(this.#shared(embeddings), offsets, (task, span, rows, samples, { batchSize, firstRow }) => {
      const { rowFloats } = this.#plan.outputs[task.output]!;
      const out = outputs[task.output]!.data.byteOffset + (firstRow * rowFloats + task.offset) * 4;
      this.#kernels.layoutForwardF32(
        rows,
        samples,
        batchSize,
        Number(span.shared),
        task.start,
        task.end - task.start,
        task.poolingType,
        task.maxSequenceLength,
        out,
        rowFloats,
        task.positionStride,
      );
    });
    return outputs;
  }

  /** Gradients with respect to the embeddings, in their shapes. */
  backward(
    embeddings: LayoutEmbeddings,
    offsets: LayoutOffsets,
    layoutGradients: readonly Floats[],
    scale = 1,
  ): Float32Array[] {
    checkGradients(this.#plan, offsets.batchSize, layoutGradients);
    const grads = layoutGradients.map(({ data }) => this.#floats(data).byteOffset);
    const gradients = embeddings.embeddings.map((data) => this.#zeros(data.length));
    const target = { ...embeddings, embeddings: gradients } as LayoutEmbeddings;
    this.#forEachTask(target, offsets, (task, span, rows, samples, { batchSize, firstRow }) => {
      const { rowFloats } = this.#plan.outputs[task.output]!;
      this.#kernels.layoutBackwardF32(
        rows,
        samples,
        batchSize,
        Number(span.shared),
        task.start,
        task.end - task.start,
        task.poolingType,
        task.maxSequenceLength,
        grads[task.output]! + (firstRow * rowFloats + task.offset) * 4,
        rowFloats,
        task.positionStride,
        scale,
      );
    });
    return gradients;
  }

  /** Finds the rows of each request's ids once, then calls `run` for every slice that has samples. */
  #forEachTask(
    embeddings: LayoutEmbeddings,
    offsets: LayoutOffsets,
    run: (task: LayoutTask, span: FeatureSpan, rows: number, samples: number, request: LayoutRequest) => void,
  ): void {
    for (const request of layoutRequests(this.#plan, embeddings, offsets)) {
      const spans = this.#plan.order.features.map(({ index }) => spanOf(request, index));
      const rows = this.#resolve(request, spans);
      const samples = this.#samples(request.featureOffset);
      for (const task of this.#plan.tasks) {
        const span = spans[task.feature.index]!;
        if (span !== null) run(task, span, rows, samples + span.firstSample * 4, request);
      }
    }
  }

  /** Addresses of the rows of all ids of a request. */
  #resolve({ sources, fidOffset, featureOffset }: LayoutRequest, spans: readonly (FeatureSpan | null)[]): number {
    const table = this.#arena.alloc(sources.length * RECORD_WORDS * 4, 'layout: sources');
    const words = view(Uint32Array, this.#buffer, table, sources.length * RECORD_WORDS);
    sources.forEach(({ data, unit }, i) => {
      const source = { address: data.byteOffset, floats: data.length, unit };
      words.set(wordsOf(LAYOUT_SOURCE, RECORD_WORDS, source), i * RECORD_WORDS);
    });
    const rows = this.#arena.alloc(fidOffset.length * 4, 'layout: rows');
    const offsets = this.#offsets(fidOffset);
    for (const { index, dim, name } of this.#plan.order.features) {
      const span = spans[index]!;
      if (span === null) continue;
      const begin = featureOffset[span.firstSample]!;
      const end = featureOffset[span.firstSample + span.sampleCount]!;
      if (begin < 0 || end > fidOffset.length) throw outside(name, end);
      const bad = this.#kernels.layoutResolve(offsets, begin, end, table, sources.length, dim, rows);
      if (bad >= 0) throw outside(name, bad);
    }
    return rows;
  }

  #shared(embeddings: LayoutEmbeddings): LayoutEmbeddings {
    return { ...embeddings, embeddings: embeddings.embeddings.map((data) => this.#floats(data)) } as LayoutEmbeddings;
  }

  #zeros(count: number): Float32Array {
    return view(Float32Array, this.#buffer, this.#arena.alloc(count * 4, 'layout: floats'), count).fill(0);
  }

  #floats(data: Float32Array): Float32Array {
    if (data.buffer === this.#buffer) return data;
    const copy = view(Float32Array, this.#buffer, this.#arena.alloc(data.byteLength, 'layout: floats'), data.length);
    copy.set(data);
    return copy;
  }

  #samples(data: Int32Array): number {
    if (data.buffer === this.#buffer) return data.byteOffset;
    const at = this.#arena.alloc(data.byteLength, 'layout: feature_offset');
    view(Int32Array, this.#buffer, at, data.length).set(data);
    return at;
  }

  #offsets(data: BigUint64Array): number {
    if (data.buffer === this.#buffer) return data.byteOffset;
    const at = this.#arena.alloc(data.byteLength, 'layout: fid_offset');
    view(BigUint64Array, this.#buffer, at, data.length).set(data);
    return at;
  }
}
