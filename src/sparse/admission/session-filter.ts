/**
 * @file The admission filter that the tables of a model share, as their configs ask for it: one sliding filter per
 * session, made when the first of the tables is.
 */
import type { SessionCore } from '../../runtime/session/session-core.js';
import type { Admission } from '../config/admission.js';
import type { AdmissionFilter } from './filter-memory.js';
import { HashFilter } from './hash-filter.js';

export function sessionFilter(session: SessionCore, admission: Admission): AdmissionFilter {
  const { views, kernels, arena } = session;
  return session.resource(admission, () => HashFilter.sliding({ views, kernels, arena, ...admission }));
}
