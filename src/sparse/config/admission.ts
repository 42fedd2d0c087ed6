import type { SlotOccurrenceThresholdConfig } from './config-messages.js';

/**
 * Which ids get a row in a session, as the config of a table says. Tables whose configs have the same object share a
 * filter.
 */
export interface Admission {
  readonly thresholds: SlotOccurrenceThresholdConfig;
  /** Ids the filter remembers. Default: 300 million, which take 840 MB. */
  readonly capacity?: number;
  readonly splitNum?: number;
}
