/** @file TensorBoard summaries: what of a graph is written, and the files themselves. `summaries` of the package. */
export { type EventFileOptions, EventFileWriter } from '../summary/event-file-writer.js';
export {
  type FeatureInsightDataOptions,
  featureInsightData,
  type GraphSummary,
  histogram,
  type NasDataOptions,
  nasData,
  type SummaryOptions,
  scalar,
} from '../summary/summary-ops.js';
