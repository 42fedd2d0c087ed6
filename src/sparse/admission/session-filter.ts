/**
 * @file The admission filter that the tables of a model share, as their configs ask for it: one sliding filter per
 * session, made when the first of the tables is.
 */
import type { CompileEnvironment } from '../../runtime/compile/lowering.js';
import type { Admission } from '../config/admission.js';
import { type AdmissionFilter, HashFilter } from './admission-filter.js';

export function sessionFilter(session: CompileEnvironment, admission: Admission): AdmissionFilter {
  return session.resource(admission, ({ views, kernels, arena }) =>
    HashFilter.sliding({ views, kernels, arena, ...admission }),
  );
}
