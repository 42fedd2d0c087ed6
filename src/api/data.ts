/** @file Batches in shared memory, and the thread that reads them. `data` of the package. */
export { type ArrayFileOptions, arrayFileDataset } from '../data/array-file.js';
export { batchList } from '../data/batch-list.js';
export type { BatchInput, BatchSource, OpenBatches } from '../data/batch-source.js';
export { DataReader, type DataReaderOptions } from '../data/data-reader.js';
export type { DatasetGiven, ShuffleOptions, SideOptions, SplitOptions } from '../data/dataset.js';
export type { DatasetModule, DatasetSize, DatasetSource, OpenDataset, OpenStream } from '../data/dataset-source.js';
export { type EncodedRows, type EncodeOptions, encodeRows } from '../data/encode-rows.js';
export { fingerprint64, textId } from '../data/farmhash.js';
export type { CsvForm, CsvOptions } from '../data/files/csv-options.js';
export { FileQueue, type FileQueueState, type FileSource } from '../data/files/file-queue.js';
export type { FileOptions, Findings, Format } from '../data/files/file-rows.js';
export {
  type DatedOptions,
  datedPatterns,
  expandPattern,
  type MatchedFiles,
  matchFiles,
} from '../data/files/patterns.js';
export { type DataRow, type Place, placeOf } from '../data/files/place.js';
export { ItemPool, type ItemPoolOptions, type PoolItem, type PoolPlace } from '../data/item-pool.js';
export { lowerCase, signedLog } from '../data/known-functions.js';
export { loadBatches } from '../data/resident-batches.js';
export type { RawId, Row } from '../data/row.js';
export { type AddLabelOptions, addLabel, INVALID_LABEL } from '../data/transform/add-label.js';
export type { Transform } from '../data/transform/row-transform.js';
export { type TransformGiven, transformOf } from '../data/transform/transform.js';
