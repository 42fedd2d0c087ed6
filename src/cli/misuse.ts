/** @file Command lines that cannot be: complaints of commander as ML_FLAG, with the word the user may have meant. */
import type { Command, CommanderError } from 'commander';
import { MonolithError } from '../base/errors.js';
import { suggest } from '../base/suggest.js';

/** Commander's complaint as ML_FLAG, with the word the user may have meant. */
export function toFlagError(error: CommanderError, args: readonly string[], program: Command): MonolithError {
  const { command, words, rest } = commandOf(program, args);
  const help = `see monolith ${[...words, '--help'].join(' ')}`;
  const word = /'([^']*)'/.exec(error.message)?.[1] ?? '';
  if (error.code === 'commander.excessArguments' && command !== undefined && command.commands.length > 0) {
    return unknownCommand(rest, command);
  }
  switch (error.code) {
    case 'commander.unknownOption':
      return unknownFlag(word, program, command, help);
    case 'commander.unknownCommand':
      return unknownCommand(word, program);
    case 'commander.optionMissingArgument': {
      const [flag, value] = word.split(' ');
      return new MonolithError('ML_FLAG', { flag, reason: `needs a value ${value}` }, { hint: help, cause: error });
    }
    default: {
      const reason = error.message.replace(/^error: /, '').replace(/\.$/, '');
      return new MonolithError(
        'ML_FLAG',
        { flag: words.join(' ') || 'monolith', reason },
        { hint: help, cause: error },
      );
    }
  }
}

/** The command that `args` name, a command of a command included, with its words, and the word after them. */
function commandOf(program: Command, args: readonly string[]) {
  const words = args.filter((arg) => !arg.startsWith('-'));
  let command: Command | undefined;
  let depth = 0;
  for (; depth < words.length; depth++) {
    const next: Command | undefined = (command ?? program).commands.find((one) => one.name() === words[depth]);
    if (next === undefined) break;
    command = next;
  }
  return { command, words: words.slice(0, depth), rest: words[depth] ?? '' };
}

/** Commander answers `help` for a command that does not exist with the general help; a slip deserves to be told. */
export function refuseUnknownHelp([first, name]: readonly string[], program: Command): void {
  const known = name === undefined || program.commands.some((command) => command.name() === name);
  if (first === 'help' && !known && !name.startsWith('-')) throw unknownCommand(name, program);
}

function unknownCommand(word: string, program: Command): MonolithError {
  const names = program
    .createHelp()
    .visibleCommands(program)
    .map((command) => command.name());
  const near = suggest(word, names);
  const hint = near === undefined ? `the commands are ${names.join(', ')}` : `did you mean ${near}?`;
  return new MonolithError('ML_FLAG', { flag: word, reason: 'unknown command' }, { hint });
}

function unknownFlag(flag: string, program: Command, command: Command | undefined, help: string): MonolithError {
  const owners = program.commands.filter((candidate) => candidate.options.some((option) => option.long === flag));
  const owner = command !== undefined && owners.includes(command) ? command : owners[0];
  const known = (command ?? program).options.map((option) => option.long ?? '');
  const near = suggest(flag, [...known, '--help']);
  let hint = near === undefined ? help : `did you mean ${near}? ${help}`;
  if (owner !== undefined) {
    const right = `monolith ${owner.name()} ... ${flag}`;
    // Commander reads flags before the command's name as flags of monolith itself.
    const early = command === undefined || owner === command;
    hint = early ? `put it after the command: ${right}` : `it is a flag of another command: ${right}`;
  }
  return new MonolithError('ML_FLAG', { flag, reason: 'unknown flag' }, { hint });
}
