/** @file What predictions and labels come to: loss, calibration, a histogram, deciles, points of the ROC curve. */
import { auc } from '../metrics/auc.js';
import type { TestEvent } from './run-event.js';

const BINS = 20;
const DECILES = 10;
const ROC_POINTS = 100;
const TINY = 1e-7;

export type Scored = Pick<TestEvent, 'auc' | 'loss' | 'examples' | 'calibration' | 'histogram' | 'deciles' | 'roc'>;

/** Mean of -log of the probability that was given to what came. */
export function logLoss(labels: Float32Array, predictions: Float32Array): number {
  let sum = 0;
  for (const [row, label] of labels.entries()) {
    const p = Math.min(1 - TINY, Math.max(TINY, predictions[row]!));
    sum -= label > 0 ? Math.log(p) : Math.log(1 - p);
  }
  return sum / Math.max(1, labels.length);
}

export function scored(labels: Float32Array, predictions: Float32Array): Scored {
  const [zeros, ones] = [new Array<number>(BINS).fill(0), new Array<number>(BINS).fill(0)];
  let [said, found] = [0, 0];
  for (const [row, label] of labels.entries()) {
    const p = predictions[row]!;
    const bin = Math.min(BINS - 1, Math.max(0, Math.floor(p * BINS)));
    (label > 0 ? ones : zeros)[bin]!++;
    said += p;
    found += label;
  }
  const order = Uint32Array.from(labels, (_, row) => row).sort((a, b) => predictions[b]! - predictions[a]!);
  return {
    auc: auc(labels, predictions),
    loss: logLoss(labels, predictions),
    examples: labels.length,
    calibration: found > 0 ? said / found : Number.NaN,
    histogram: { zeros, ones },
    deciles: decilesOf(order, labels, predictions),
    roc: rocOf(order, labels),
  };
}

function decilesOf(order: Uint32Array, labels: Float32Array, predictions: Float32Array): Scored['deciles'] {
  return Array.from({ length: DECILES }, (_, part) => {
    const from = Math.floor((order.length * (DECILES - 1 - part)) / DECILES);
    const rows = order.subarray(from, Math.floor((order.length * (DECILES - part)) / DECILES));
    const mean = (values: Float32Array) => rows.reduce((sum, row) => sum + values[row]!, 0) / Math.max(1, rows.length);
    return { predicted: mean(predictions), found: mean(labels), rows: rows.length };
  });
}

function rocOf(order: Uint32Array, labels: Float32Array): Scored['roc'] {
  const positives = labels.reduce((sum, label) => sum + (label > 0 ? 1 : 0), 0);
  const negatives = labels.length - positives;
  const points: [number, number][] = [[0, 0]];
  const every = Math.max(1, Math.floor(order.length / ROC_POINTS));
  let [hits, misses] = [0, 0];
  for (const [at, row] of order.entries()) {
    if (labels[row]! > 0) hits++;
    else misses++;
    if ((at + 1) % every === 0) points.push([misses / Math.max(1, negatives), hits / Math.max(1, positives)]);
  }
  points.push([1, 1]);
  return points;
}
