/** @file What each feature contributes to the first layer. Mirrors feature_insight. */
import { Tensor } from '../tensor.js';
import { check, matrixShape, sum } from './check.js';

type Floats = Tensor<'float32'>;

interface Survey {
  readonly batch: number;
  readonly width: number;
  readonly cols: number;
  /** First column of each feature, and one more entry for the end. */
  readonly starts: readonly number[];
}

function survey(input: Floats, weight: Floats, segmentSizes: readonly number[]): Survey {
  const op = 'featureInsight';
  const [batch, width] = matrixShape(op, 'the input', input);
  const [rows, cols] = matrixShape(op, 'the weight', weight);
  check(segmentSizes.length > 0, op, 'there is no segment');
  check(width === rows, op, `the input is ${width} wide and the weight has ${rows} rows`);
  check(sum(segmentSizes) === width, op, `segments [${segmentSizes}] do not make ${width} columns`);
  const starts = [0];
  for (const size of segmentSizes) starts.push(starts.at(-1)! + size);
  return { batch, width, cols, starts };
}

/** Calls `visit` for every (example, feature, column of the feature, column of the weight). */
function forEachTerm(
  { batch, cols, starts }: Survey,
  visit: (b: number, f: number, e: number, k: number) => void,
): void {
  for (let b = 0; b < batch; b++) {
    for (let f = 0; f + 1 < starts.length; f++) {
      for (let e = starts[f]!; e < starts[f + 1]!; e++) for (let k = 0; k < cols; k++) visit(b, f, e, k);
    }
  }
}

/** [B, F * K]: block f is the segment of feature f times the rows of the weight that belong to it. */
export function featureInsight(input: Floats, weight: Floats, segmentSizes: readonly number[]): Floats {
  const shape = survey(input, weight, segmentSizes);
  const { batch, width, cols } = shape;
  const features = segmentSizes.length;
  const out = new Float32Array(batch * features * cols);
  forEachTerm(shape, (b, f, e, k) => {
    const at = (b * features + f) * cols + k;
    out[at] = out[at]! + Math.fround(input.data[b * width + e]! * weight.data[e * cols + k]!);
  });
  return new Tensor('float32', [batch, features * cols], out);
}

/** Per feature the sum of the squares of its block: [B, F]. */
export function featureInsightAggregate(input: Floats, weight: Floats, segmentSizes: readonly number[]): Floats {
  const blocks = featureInsight(input, weight, segmentSizes);
  const cols = weight.shape[1]!;
  const out = new Float32Array(blocks.shape[0]! * segmentSizes.length);
  blocks.data.forEach((x, at) => {
    const cell = Math.floor(at / cols);
    out[cell] = out[cell]! + Math.fround(x * x);
  });
  return new Tensor('float32', [blocks.shape[0]!, segmentSizes.length], out);
}

export interface FeatureInsightGradient {
  readonly input: Floats;
  readonly weight: Floats;
}

/** Gradients of featureInsight; `grad` is [B, F * K]. */
export function featureInsightGradient(
  grad: Floats,
  input: Floats,
  weight: Floats,
  segmentSizes: readonly number[],
): FeatureInsightGradient {
  const shape = survey(input, weight, segmentSizes);
  const { batch, width, cols } = shape;
  const features = segmentSizes.length;
  check(grad.size === batch * features * cols, 'featureInsightGradient', `the gradient has shape [${grad.shape}]`);
  const dx = new Float32Array(input.size);
  const dw = new Float32Array(weight.size);
  forEachTerm(shape, (b, f, e, k) => {
    const g = grad.data[(b * features + f) * cols + k]!;
    const [x, w] = [b * width + e, e * cols + k];
    dx[x] = dx[x]! + Math.fround(g * weight.data[w]!);
    dw[w] = dw[w]! + Math.fround(g * input.data[x]!);
  });
  return { input: new Tensor('float32', input.shape, dx), weight: new Tensor('float32', weight.shape, dw) };
}

/** Gradients of featureInsightAggregate; `grad` is [B, F]. */
export function featureInsightAggregateGradient(
  grad: Floats,
  input: Floats,
  weight: Floats,
  segmentSizes: readonly number[],
): FeatureInsightGradient {
  const blocks = featureInsight(input, weight, segmentSizes);
  const cols = weight.shape[1]!;
  const inner = blocks.data.map((x, at) => 2 * x * grad.data[Math.floor(at / cols)]!);
  return featureInsightGradient(new Tensor('float32', blocks.shape, inner), input, weight, segmentSizes);
}
