/** @file Loss and AUC of a model over batches in shared memory. */

import { BATCH_POINTERS, BATCH_ROWS } from '../memory/batch.js';
import { view } from '../memory/views.js';
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
  session.prepare([model.pred, model.loss]);
}

/** Runs the forward part over `batches` (addresses). */
export async function evaluate(session: Session, model: ModelSpec, batches: readonly number[]): Promise<Evaluation> {
  const labels: number[] = [];
  const scores: number[] = [];
  let lossSum = 0;
  for (const batch of batches) {
    const [pred, loss] = await session.run([model.pred, model.loss], batch);
    for (const score of pred as Float32Array) scores.push(score);
    for (const label of labelsOf(session, model, batch)) labels.push(label);
    lossSum += (loss as number) * (pred as Float32Array).length;
  }
  return {
    auc: auc(Float32Array.from(labels), Float32Array.from(scores)),
    loss: lossSum / scores.length,
    examples: scores.length,
  };
}

function labelsOf(session: Session, model: ModelSpec, batch: number): Float32Array {
  const { views, schema } = session;
  const before = schema.slice(
    0,
    schema.findIndex((feed) => feed.name === model.label.op.name),
  );
  const word = before.reduce((at, feed) => at + (feed.kind === 'dense' ? 1 : 2), BATCH_POINTERS);
  const pointer = views.u32[batch / 4 + word]!;
  return view(Float32Array, views.buffer, pointer, views.u32[batch / 4 + BATCH_ROWS]!, 'labels');
}
