/** @file A thread with an estimator of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { listOf, tasteEstimator, tasteRows } from './tastes.js';

const estimator = tasteEstimator({ modelDir: workerData as string });
const run = await estimator.train(tasteRows(640), { epochs: 2 });
const { metrics } = await estimator.evaluate(tasteRows(64, 1000));
const predictions = await listOf(estimator.predict(tasteRows(3)));
await estimator.close();
parentPort!.postMessage({
  step: run.step,
  auc: metrics.auc,
  predictions: predictions.map(({ prediction }) => prediction),
});
