/** @file The FFM demo as a model of an estimator. */

import { batchList } from '../../../src/data/batch-list.js';
import { ffmBatches } from '../../../src/demo/ffm-dataset.js';
import { ffmSchema } from '../../../src/demo/ffm-example.js';
import { buildFfm } from '../../../src/demo/ffm-model.js';
import { Estimator } from '../../../src/train/estimator/estimator.js';
import type { EstimatorOptions } from '../../../src/train/estimator/estimator-options.js';

export const FfmAdapter = {
  make(options: EstimatorOptions, batchSize = 64) {
    const model = { name: 'ffm', schema: { specs: ffmSchema() }, build: () => buildFfm() };
    const session = { memoryBytes: 2 ** 26 };
    const estimator = new Estimator(model, { batchSize, threads: 2, seed: 1, session, ...options });
    const batches = batchList([...ffmBatches({ kind: 'clicks', vocab: 20, batchSize, seed: 1, examples: 640 })]);
    return { estimator, batches, batchSize };
  },
};
