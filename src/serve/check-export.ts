/** @file An export held to the training it came from: the same rows, and how far their predictions are apart. */
import type { Estimator } from '../train/estimator/estimator.js';
import { openModel } from './loaded-model.js';
import { sampleRows } from './sample-rows.js';

export interface ExportCheck {
  readonly rows: number;
  /** The largest difference of two predictions. */
  readonly worst: number;
}

const ROWS = 512;

/** Loads a version and compares what it predicts with what the estimator does, for rows of ids it knows and others. */
export async function checkExport(estimator: Estimator, folder: string, checkpoint?: string): Promise<ExportCheck> {
  const model = await openModel(folder, { schema: estimator.model.schema as never });
  try {
    const rows = sampleRows(model.schema.features, ROWS, (feature) =>
      model.tableOf.has(feature) ? model.idsOf(feature) : null,
    );
    const found = await model.predict(rows as never);
    let [worst, at] = [0, 0];
    const options = { ...(checkpoint !== undefined && { checkpoint }), yieldSingleExamples: false } as const;
    for await (const { predictions } of estimator.predict(rows as never, options)) {
      for (const value of predictions) worst = Math.max(worst, Math.abs(value - found[at++]!));
    }
    return { rows: rows.length, worst };
  } finally {
    await model.close();
  }
}
