/** @file Registers `monolith table` and what it holds. */
import { addFlags, parseFlags } from '../flags.js';
import { TABLE_HELP } from '../help-texts.js';
import { tableExportFlags, tableImportFlags, tableNearestFlags } from '../table/table-options.js';
import { type AddCommands, addGroup } from './command-parts.js';

const RUN = 'folder of a run of monolith train --data';
const load = () => import('../table/table-commands.js');

export const addTableCommands: AddCommands = (program, { io, setExit }) => {
  const table = addGroup(program, 'table', 'Rows of the tables of a run: out, in, beside each other.', TABLE_HELP);
  addFlags(table.command('export').description('Write the rows of a table to a file.'), tableExportFlags)
    .argument('<run>', RUN)
    .action(async (run: string, raw: unknown) => {
      setExit(await (await load()).runTableExport(run, parseFlags(tableExportFlags, raw, 'table export'), io));
    });
  addFlags(table.command('import').description('Set rows of a table, in a new model directory.'), tableImportFlags)
    .argument('<run>', RUN)
    .action(async (run: string, raw: unknown) => {
      setExit(await (await load()).runTableImport(run, parseFlags(tableImportFlags, raw, 'table import'), io));
    });
  addFlags(table.command('nearest').description('Show the ids whose rows point the same way.'), tableNearestFlags)
    .argument('<run>', RUN)
    .action(async (run: string, raw: unknown) => {
      setExit(await (await load()).runTableNearest(run, parseFlags(tableNearestFlags, raw, 'table nearest'), io));
    });
};
