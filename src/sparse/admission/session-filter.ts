/**
 * @file The admission filter that the tables of a model share, as their configs ask for it: one sliding filter per
 * session, made when the first of the tables is.
 */
import type { CompileEnvironment } from '../../runtime/compile/lowering.js';
import type { SlotOccurrenceThresholdConfig } from '../config/config-messages.js';
import { type AdmissionFilter, HashFilter } from './admission-filter.js';

/** Tables whose configs have the same object share a filter. */
export interface Admission {
  readonly thresholds: SlotOccurrenceThresholdConfig;
  /** Ids the filter remembers; 300 million, which take 840 MB, unless told. */
  readonly capacity?: number;
  readonly splitNum?: number;
}

export function sessionFilter(session: CompileEnvironment, admission: Admission): AdmissionFilter {
  return session.resource(admission, ({ views, kernels, arena }) =>
    HashFilter.sliding({ views, kernels, arena, ...admission }),
  );
}
