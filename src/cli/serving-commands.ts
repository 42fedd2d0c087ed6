/** @file The commands that take a model out of the training room. */
import type { Command } from 'commander';
import { addFlags, parseFlags } from './command-flags.js';
import { EXPORT_HELP, IMPORT_HELP, SERVE_HELP } from './help-texts.js';
import type { CliIo } from './io.js';

const exportFlags = async () => (await import('./export-options.js')).exportFlags;
const importFlags = async () => (await import('./export-options.js')).importFlags;
const serveFlags = async () => (await import('./serve-options.js')).serveFlags;

export function addServingCommands(program: Command, io: CliIo, setExit: (code: number) => void): void {
  addFlags(program.command('export').description('Write a run for serving, as a new version.'), exportFlags)
    .argument('<run>', 'folder of a run of monolith train --data')
    .addHelpText('after', EXPORT_HELP)
    .action(async (dir: string, raw: unknown) => {
      const flags = await parseFlags(exportFlags, raw, 'export');
      const { runExportCommand } = await import('./export-command.js');
      setExit(await runExportCommand(dir, flags, io));
    });

  addFlags(program.command('import').description('Load an exported model, try it, and show what it is.'), importFlags)
    .argument('<dir>', 'folder of versions, one version, or a folder of tables of the reference')
    .addHelpText('after', IMPORT_HELP)
    .action(async (dir: string, raw: unknown) => {
      const flags = await parseFlags(importFlags, raw, 'import');
      const { runImportCommand } = await import('./import-command.js');
      setExit(await runImportCommand(dir, flags, io));
    });

  addFlags(program.command('serve').description('Answer requests for predictions of exported models.'), serveFlags)
    .argument('[dir...]', 'folder of versions or one version, or NAME=DIR')
    .addHelpText('after', SERVE_HELP)
    .action(async (dirs: readonly string[], raw: unknown) => {
      const flags = await parseFlags(serveFlags, raw, 'serve');
      const { runServeCommand } = await import('./serve-command.js');
      setExit(await runServeCommand(dirs, flags, io));
    });
}
