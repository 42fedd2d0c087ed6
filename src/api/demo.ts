/** @file The demo: a field-aware factorization machine and the clicks it learns. `demo` of the package. */
export {
  datasetSize,
  type FfmDatasetOptions,
  ffmBatches,
  ffmDataset,
  heldOutOf,
  loadFfmBatches,
} from '../demo/ffm-dataset.js';
export { FFM_LENGTH_MAX, ffmSchema } from '../demo/ffm-example.js';
export { buildFfm } from '../demo/ffm-model.js';
export { FFMParams, TestFFMModel } from '../demo/ffm-task.js';
