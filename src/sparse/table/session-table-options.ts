/** @file The options of a table that a session makes: those of the session, under those that are given. */
import type { CompileEnvironment } from '../../runtime/compile/lowering.js';
import { sessionFilter } from '../admission/session-filter.js';
import type { TableConfig } from '../config/table-config.js';
import { checkDeviceTable } from './device-residence.js';
import type { TableOptions } from './table-options.js';

/** ML_GPU_TABLE when the table is to be on a device and cannot. */
export function sessionTableOptions(owner: CompileEnvironment, config: TableConfig, given: TableOptions): TableOptions {
  const options: TableOptions = {
    seed: owner.seed,
    badGradients: 'skip',
    ...owner.tablePolicy,
    ...(config.admission && { filter: sessionFilter(owner, config.admission) }),
    ...given,
  };
  if (owner.deviceTables !== undefined) checkDeviceTable(owner, config, options);
  return options;
}
