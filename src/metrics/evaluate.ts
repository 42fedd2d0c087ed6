/** @file Loss and AUC of a model over batches in shared memory. */
import { MonolithError } from '../base/errors.js';
import type { Session } from '../runtime/session.js';
import type { ModelSpec } from '../train/model-spec.js';
import { auc } from './auc.js';

export interface Evaluation {
  /** Null when all labels are of one class. */
  readonly auc: number | null;
  readonly loss: number;
  readonly examples: number;
}

/** Makes the program of `evaluate`, so that want of memory shows before training and not after it. */
export function prepareEvaluation(session: Session, model: ModelSpec): void {
  session.prepare(fetchesOf(model));
}

/** Runs the forward part over `batches` (addresses). */
export async function evaluate(session: Session, model: ModelSpec, batches: readonly number[]): Promise<Evaluation> {
  const labels: number[] = [];
  const scores: number[] = [];
  let lossSum = 0;
  for (const batch of batches) {
    const [pred, label, loss] = (await session.run(fetchesOf(model), batch)) as [Float32Array, Float32Array, number];
    for (const score of pred) scores.push(score);
    for (const one of label) labels.push(one);
    lossSum += loss * pred.length;
  }
  if (scores.length === 0) throw new MonolithError('ML_DATASET', { reason: 'there are no examples to evaluate on' });
  return {
    auc: auc(Float32Array.from(labels), Float32Array.from(scores)),
    loss: lossSum / scores.length,
    examples: scores.length,
  };
}

function fetchesOf(model: ModelSpec) {
  return [model.pred, model.label, model.loss];
}
