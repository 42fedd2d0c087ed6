/** @file Registers `monolith init`, `monolith completion`, and the hidden `monolith complete` that shells call. */
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import { addFlags, fillFlags, parseFlags } from '../command-flags.js';
import { COMPLETION_HELP, INIT_HELP } from '../help-texts.js';
import type { AddCommands } from './command-parts.js';

const initFlags = async () => (await import('../init/init-options.js')).initFlags;

const completionFlags = async () => ({ shape: { verbose: (await import('../flags.js')).outputFlags.verbose } });
const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

export const addHelpCommands: AddCommands = (program, { io, setExit }) => {
  addFlags(program.command('init').description('Make a project to go on from.'), initFlags)
    .argument('[dir]', 'folder of the project', 'my-recs')
    .addHelpText('after', INIT_HELP)
    .action(async (dir: string, raw: unknown) => {
      const flags = await parseFlags(initFlags, raw, 'init');
      setExit(await (await import('../init/init-command.js')).runInitCommand(dir, flags, io));
    });
  const command = program.command('completion').description('Print what makes a shell complete commands and flags.');
  addFlags(command, completionFlags)
    .argument('<shell>', SHELLS.join(', '))
    .addHelpText('after', COMPLETION_HELP)
    .action(async (shell: string) => {
      if (!SHELLS.includes(shell as never)) {
        const hint = didYouMean(shell, SHELLS) ?? `the shells are ${SHELLS.join(', ')}`;
        throw new MonolithError('ML_FLAG', { flag: `completion ${shell}`, reason: 'there is no such shell' }, { hint });
      }
      const { completionScript } = await import('../completion.js');
      io.out.write(await completionScript(shell as (typeof SHELLS)[number]));
    });
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (words: readonly string[]) => {
      const { completions } = await import('../completion.js');
      await fillFlags(program);
      io.out.write(await completions(program, words));
    });
};
