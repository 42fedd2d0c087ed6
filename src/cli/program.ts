/** @file The program `monolith`: its commands, and the way from a command line to an exit code. */
import { Command, CommanderError } from 'commander';
import type { MonolithError } from '../base/errors.js';
import { packageVersion } from '../base/package-version.js';
import { commandTerm, fillFlags } from './command-flags.js';
import { addCheckCommands } from './commands/check-commands.js';
import { addCheckpointCommands } from './commands/checkpoint-commands.js';
import type { AddCommands, CommandParts } from './commands/command-parts.js';
import { addDataCommands } from './commands/data-commands.js';
import { addHelpCommands } from './commands/help-commands.js';
import { addRunCommands } from './commands/run-commands.js';
import { addTableCommands } from './commands/table-commands.js';
import { addTrainCommands } from './commands/train-commands.js';
import { FIRST_WORDS, ROOT_HELP } from './help-texts.js';
import type { CliIo } from './io.js';
import { addLookCommands } from './look-commands.js';
import { refuseUnknownHelp, toFlagError } from './misuse.js';
import { EXIT_DONE, reportError } from './report.js';
import { addServingCommands } from './serving-commands.js';

const addLook: AddCommands = (program, { io, setExit }) => addLookCommands(program, io, setExit);

const addServing: AddCommands = (program, { io, setExit }) => addServingCommands(program, io, setExit);

/** In the order of the help. */
const COMMANDS: readonly AddCommands[] = [
  addTrainCommands,
  addRunCommands,
  addDataCommands,
  addServing,
  addCheckCommands,
  addLook,
  addCheckpointCommands,
  addTableCommands,
  addHelpCommands,
];

export type ProgramParts = Pick<CommandParts, 'loadTrainJob'>;

/** Runs the command line `args` (without node and script) and returns the exit code. Never throws. */
export async function runProgram(args: readonly string[], io: CliIo, parts: ProgramParts = {}): Promise<number> {
  let exitCode = EXIT_DONE;
  if (args.length === 0) {
    io.out.write(FIRST_WORDS);
    return EXIT_DONE;
  }
  try {
    const setExit = (code: number) => {
      exitCode = code;
    };
    const program = createProgram({ io, ...parts, setExit });
    refuseUnknownHelp(args, program);
    await fillFlags(program, args);
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return EXIT_DONE;
    const isCommander = thrown instanceof CommanderError;
    const error = isCommander ? await misuseOf(thrown, args, io) : thrown;
    return reportError(error, io, { json: args.includes('--json'), verbose: args.includes('--verbose') });
  }
}

/** What commander complained of, with the flags of all commands for a hint. */
async function misuseOf(thrown: CommanderError, args: readonly string[], io: CliIo): Promise<MonolithError> {
  const program = createProgram({ io, setExit: () => {} });
  await fillFlags(program);
  return toFlagError(thrown, args, program);
}

export function createProgram(parts: CommandParts): Command {
  const { io } = parts;
  const program = new Command('monolith')
    .description('Trains recommender models over huge sparse id spaces on every core of this machine.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .exitOverride()
    .enablePositionalOptions()
    .showSuggestionAfterError(false)
    .configureHelp({ minWidthToWrap: 20, subcommandTerm: commandTerm })
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      outputError: () => {}, // reportError prints it
      getOutHelpWidth: () => (io.out.isTTY ? io.out.columns() : 100),
      getErrHelpWidth: () => (io.err.isTTY ? io.err.columns() : 100),
    })
    .addHelpText('after', ROOT_HELP);
  for (const add of COMMANDS) add(program, parts);
  return program;
}
