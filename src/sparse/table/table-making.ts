/** @file The blocks of a table in all banks: made together, given back together. */

import { checkChoice } from '../../base/check-choice.js';
import { BAD_GRADIENTS, PARTITIONS, WHEN_FULL } from '../../memory/table-layout.js';
import type { TableMemory } from '../../runtime/tables/table-memory.js';
import type { TableConfig } from '../config/table-config.js';
import { claimName, releaseName } from '../config/table-names.js';
import { planTable } from '../config/table-plan.js';
import { type BankTable, freeControl, writeControl } from './table-control.js';
import { freeOverflow, writeOverflow } from './table-full.js';
import type { TableOptions } from './table-options.js';
import { clearTables, expireDays } from './table-removal.js';
import { keepsIdsOut } from './update-gate.js';

/**
 * An empty table in each bank. ML_TABLE_NAME when the memory has one of that name; nothing is taken by one that fails.
 */
export function makeTables(memory: TableMemory, config: TableConfig, options: TableOptions): readonly BankTable[] {
  const plan = planTable(config);
  const { seed = 0, badGradients = 'fail', whenFull = 'fail', filter } = options;
  const days = expireDays(config.instance.tableConfig);
  checkChoice('badGradients', badGradients, Object.keys(BAD_GRADIENTS));
  checkChoice('whenFull', whenFull, WHEN_FULL);
  claimName(memory, config.name);
  const made: BankTable[] = [];
  const partitions = Math.ceil(PARTITIONS / memory.banks.length);
  try {
    for (const bank of memory.banks) {
      const table = { bank, address: writeControl(bank, config.name, plan, { seed, badGradients }) };
      made.push(table);
      writeOverflow(table, config.name, plan, whenFull, days, keepsIdsOut(filter), partitions);
    }
  } catch (cause) {
    freeTables(memory, config, made);
    throw cause;
  }
  return made;
}

/** Gives back all memory of a table, and its name. */
export function freeTables(memory: TableMemory, config: TableConfig, tables: readonly BankTable[]): void {
  const plan = planTable(config);
  clearTables(config.name, tables);
  for (const table of tables) {
    freeOverflow(table, plan);
    freeControl(table, plan);
  }
  releaseName(memory, config.name);
}
