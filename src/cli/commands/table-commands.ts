/** @file Registers `monolith table` and what it holds. */
import { addFlags, parseFlags } from '../command-flags.js';
import { TABLE_HELP } from '../help-texts.js';
import { type AddCommands, addGroup } from './command-parts.js';

const tableExportFlags = async () => (await import('../table/table-options.js')).tableExportFlags;
const tableImportFlags = async () => (await import('../table/table-options.js')).tableImportFlags;
const tableNearestFlags = async () => (await import('../table/table-options.js')).tableNearestFlags;

const RUN = 'folder of a run of monolith train --data';
const load = () => import('../table/table-commands.js');

export const addTableCommands: AddCommands = (program, { io, setExit }) => {
  const table = addGroup(program, 'table', 'Rows of the tables of a run: out, in, beside each other.', TABLE_HELP);
  addFlags(table.command('export').description('Write the rows of a table to a file.'), tableExportFlags)
    .argument('<run>', RUN)
    .action(async (run: string, raw: unknown) => {
      setExit(await (await load()).runTableExport(run, await parseFlags(tableExportFlags, raw, 'table export'), io));
    });
  addFlags(table.command('import').description('Set rows of a table, in a new model directory.'), tableImportFlags)
    .argument('<run>', RUN)
    .action(async (run: string, raw: unknown) => {
      setExit(await (await load()).runTableImport(run, await parseFlags(tableImportFlags, raw, 'table import'), io));
    });
  addFlags(table.command('nearest').description('Show the ids whose rows point the same way.'), tableNearestFlags)
    .argument('<run>', RUN)
    .action(async (run: string, raw: unknown) => {
      setExit(await (await load()).runTableNearest(run, await parseFlags(tableNearestFlags, raw, 'table nearest'), io));
    });
};
