/**
 * @file What the layouts of a model are made of: out configs compiled into copy tasks and output shapes.
 *
 * A layout is a tensor the model takes as input, put together of slices of features. Layouts come in the order of their
 * names, each with its tensors in order. Every slice becomes one task: which columns of which feature, pooled how, go
 * to which place of which output row.
 */
import { MonolithError } from '../../base/errors.js';
import {
  type FeatureConfigs,
  OUT_TYPE,
  type OutConfig,
  type OutType,
  POOLING_TYPE,
  type SliceConfig,
} from '../../io/example-messages.js';
import type { MessageInput } from '../../io/message.js';
import { type FeatureOrder, type OrderedFeature, orderFeatures } from './feature-order.js';

/** One slice of one layout. Places and strides are in floats. */
export interface LayoutTask {
  readonly feature: OrderedFeature;
  readonly start: number;
  readonly end: number;
  readonly poolingType: number;
  readonly maxSequenceLength: number;
  readonly output: number;
  /** First float of the slice in a row of the output. */
  readonly offset: number;
  /** From one position of a sequence to the next. */
  readonly positionStride: number;
}

export interface LayoutOutput {
  readonly layout: string;
  /** Dimensions after the batch. */
  readonly dims: readonly number[];
  /** Batch size the config fixes, or -1. */
  readonly batchSize: number;
  readonly rowFloats: number;
}

export interface LayoutPlan {
  readonly order: FeatureOrder;
  readonly psNum: number;
  readonly outputs: readonly LayoutOutput[];
  readonly tasks: readonly LayoutTask[];
  /** Slice configs by layout, with what the features' own configs say filled in. */
  readonly slices: ReadonlyMap<string, readonly SliceConfig[]>;
}

/**
 * What the layouts of feature configs are made of, over `psNum` servers: the first argument of
 * `fusedEmbeddingToLayout`.
 */
export function compileLayout(configs: MessageInput<FeatureConfigs>, psNum: number): LayoutPlan {
  const order = orderFeatures(configs);
  const outputs: LayoutOutput[] = [];
  const tasks: LayoutTask[] = [];
  const slices = new Map<string, readonly SliceConfig[]>();
  const entries = [...(configs.outConfigs ?? new Map<string, MessageInput<OutConfig>>())];
  for (const [layout, config] of entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) {
    const filled = (config.sliceConfigs ?? []).map((slice, i) => fillSlice(layout, slice, i, order));
    if (filled.length === 0) throw failure(layout, 'it has no slice');
    slices.set(layout, filled);
    const places = placesOf(layout, filled, (config.outType ?? 0) as OutType);
    const first = outputs.length;
    const shapes = (config.shape ?? []).map(({ dims }) => dims ?? []);
    outputs.push(...outputsOf(layout, places.shapes, shapes));
    filled.forEach((slice, i) => {
      const { output, offset, positionStride } = places.slices[i]!;
      const { start, end, poolingType, maxSequenceLength } = slice;
      const feature = order.features[slice.featureIdx]!;
      tasks.push({
        feature,
        start,
        end,
        poolingType,
        maxSequenceLength,
        output: first + output,
        offset,
        positionStride,
      });
    });
  }
  return { order, psNum, outputs, tasks, slices };
}

function failure(layout: string, reason: string): MonolithError {
  return new MonolithError('ML_LAYOUT', { layout, reason });
}

function fillSlice(layout: string, slice: MessageInput<SliceConfig>, index: number, order: FeatureOrder): SliceConfig {
  const { featureName = '', start = 0, end = 0 } = slice;
  const feature = order.byName.get(featureName);
  if (feature === undefined) throw failure(layout, `feature ${featureName} has no config`);
  if (start < 0 || end <= start || end > feature.dim) {
    throw failure(layout, `slice ${start}..${end} of ${featureName} is not within its ${feature.dim} columns`);
  }
  const { poolingType, maxSequenceLength } = feature;
  if (poolingType === POOLING_TYPE.FIRSTN && maxSequenceLength < 1) {
    throw failure(layout, `${featureName} takes the first ${maxSequenceLength} ids`);
  }
  return { featureName, start, end, featureIdx: feature.index, sliceIdx: index, poolingType, maxSequenceLength };
}

interface SlicePlace {
  readonly output: number;
  readonly offset: number;
  readonly positionStride: number;
}

/** Shapes after the batch, and where each slice goes in them. */
function placesOf(
  layout: string,
  slices: readonly SliceConfig[],
  outType: OutType,
): { shapes: readonly (readonly number[])[]; slices: readonly SlicePlace[] } {
  const widths = slices.map(({ start, end }) => end - start);
  const width = widths[0]!;
  switch (outType) {
    case OUT_TYPE.CONCAT: {
      const length = sequenceLength(layout, slices);
      const total = widths.reduce((sum, one) => sum + one, 0);
      let next = 0;
      const places = widths.map((one) => {
        next += one;
        return { output: 0, offset: next - one, positionStride: total };
      });
      return { shapes: [length === 0 ? [total] : [length, total]], slices: places };
    }
    case OUT_TYPE.STACK: {
      const length = sequenceLength(layout, slices);
      checkEqual(layout, widths);
      const plane = Math.max(length, 1) * width;
      const places = widths.map((_, i) => ({ output: 0, offset: i * plane, positionStride: width }));
      return { shapes: [[slices.length, ...(length === 0 ? [] : [length]), width]], slices: places };
    }
    case OUT_TYPE.ADDN: {
      checkEqual(layout, widths);
      if (sequenceLength(layout, slices) > 0) throw failure(layout, 'sequences cannot be added up');
      return { shapes: [[width]], slices: widths.map(() => ({ output: 0, offset: 0, positionStride: 0 })) };
    }
    case OUT_TYPE.NONE:
      return {
        shapes: slices.map((slice, i) => [...sequenceDims(slice), widths[i]!]),
        slices: widths.map((one, i) => ({ output: i, offset: 0, positionStride: one })),
      };
    default:
      outType satisfies never;
      throw failure(layout, `out type ${outType} is unknown`);
  }
}

const sequenceDims = ({ poolingType, maxSequenceLength }: SliceConfig): number[] =>
  poolingType === POOLING_TYPE.FIRSTN ? [maxSequenceLength] : [];

/** Common length of the sequences, 0 when all slices are pooled. One tensor cannot hold both. */
function sequenceLength(layout: string, slices: readonly SliceConfig[]): number {
  const lengths = new Set(slices.map((slice) => sequenceDims(slice)[0] ?? 0));
  if (lengths.size > 1) throw failure(layout, `sequences of ${[...lengths].join(' and ')} positions in one tensor`);
  return [...lengths][0]!;
}

function checkEqual(layout: string, widths: readonly number[]): void {
  if (widths.some((width) => width !== widths[0])) throw failure(layout, `slices are ${widths.join(', ')} wide`);
}

/** The outputs of a layout. Shapes in the config must agree; without any they follow from the slices. */
function outputsOf(
  layout: string,
  wanted: readonly (readonly number[])[],
  given: readonly (readonly number[])[],
): LayoutOutput[] {
  if (given.length > 0 && given.length !== wanted.length) {
    throw failure(layout, `it has ${given.length} shapes for ${wanted.length} tensors`);
  }
  return wanted.map((dims, i) => {
    const [batchSize = -1, ...rest] = given[i] ?? [-1, ...dims];
    if (batchSize === 0 || batchSize < -1 || rest.join() !== dims.join()) {
      throw failure(layout, `shape [${given[i]}] is not [batch, ${dims.join(', ')}]`);
    }
    return { layout, dims, batchSize, rowFloats: dims.reduce((product, dim) => product * dim, 1) };
  });
}
