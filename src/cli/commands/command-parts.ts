/** @file What commands are registered with, and what they share: the flags of output, groups of commands. */
import type { Command } from 'commander';
import { MonolithError } from '../../base/errors.js';
import type { CliIo } from '../io.js';
import type { LoadTrainJob } from '../train-command.js';

export interface CommandParts {
  readonly io: CliIo;
  readonly loadTrainJob?: LoadTrainJob | undefined;
  readonly setExit: (code: number) => void;
}

/** Adds commands to the program. */
export type AddCommands = (program: Command, parts: CommandParts) => void;

/** A command that does nothing but hold others. */
export function addGroup(program: Command, name: string, description: string, help: string): Command {
  return program
    .command(name)
    .description(description)
    .addHelpText('after', help)
    .action((_flags: unknown, command: Command) => {
      const names = command.commands.map((one) => one.name()).join(', ');
      throw new MonolithError('ML_FLAG', { flag: name, reason: 'needs a command' }, { hint: `one of ${names}` });
    });
}
