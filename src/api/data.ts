/** @file Batches in shared memory, and the thread that reads them. `data` of the package. */
export { type ArrayFileOptions, arrayFileDataset } from '../data/array-file.js';
export { DataReader, type DataReaderOptions } from '../data/data-reader.js';
export type { DatasetModule, DatasetSize, DatasetSource, OpenDataset } from '../data/dataset-source.js';
export { loadBatches } from '../data/resident-batches.js';
