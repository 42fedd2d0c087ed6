/** @file The options of a table that a session makes: those of the session, under those that are given. */
import type { SessionCore } from '../../runtime/session/session-core.js';
import { sessionFilter } from '../admission/session-filter.js';
import type { TableConfig } from '../config/table-config.js';
import { sessionTouched } from './session-touched.js';
import type { TableOptions } from './table-options.js';
import { traitsOf } from './table-residence.js';

/** Throws when the backend of the session cannot do what the table asks for. */
export function sessionTableOptions(owner: SessionCore, config: TableConfig, given: TableOptions): TableOptions {
  const touched = sessionTouched(owner);
  const options: TableOptions = {
    seed: owner.seed,
    badGradients: 'skip',
    ...owner.tablePolicy,
    ...(config.admission && { filter: sessionFilter(owner, config.admission) }),
    ...(touched && { touchedKeys: touched.keysOf(config.name) }),
    ...given,
  };
  owner.backend.tables?.check(traitsOf(owner, config, options));
  return options;
}
