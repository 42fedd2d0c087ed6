/** @file Completion of shells: scripts that ask this command, and what it answers, both by @bomb.sh/tab. */
import type { Command, Option } from 'commander';
import { choicesOf } from './flags.js';

/** Names that the command is installed under. */
const NAMES = ['monolith', 'monolith-ts'];

/** A script to be read by a shell. */
export async function completionScript(shell: string): Promise<string> {
  const { script } = await import('@bomb.sh/tab');
  return NAMES.map((name) => printed(() => script(shell, name, name))).join('\n');
}

/** Words that may stand after `words`, as the scripts read them. */
export async function completions(program: Command, words: readonly string[]): Promise<string> {
  const { RootCommand } = await import('@bomb.sh/tab');
  const root = new RootCommand();
  for (const [path, command] of walk(program, '')) {
    const known = path === '' ? root : root.command(path, command.description());
    for (const option of command.options.filter((one) => !one.hidden)) addOption(known, option);
    for (const argument of command.registeredArguments) {
      known.argument(argument.name(), undefined, argument.variadic);
    }
  }
  return printed(() => root.parse([...words]));
}

/** Commands with the words that lead to them. */
function* walk(command: Command, path: string): Generator<[string, Command]> {
  yield [path, command];
  for (const one of command.createHelp().visibleCommands(command)) {
    yield* walk(one, path === '' ? one.name() : `${path} ${one.name()}`);
  }
}

type Known = InstanceType<typeof import('@bomb.sh/tab')['Command']>;

function addOption(known: Known, option: Option): void {
  const name = option.long?.slice(2);
  if (name === undefined) return;
  if (!option.required) {
    known.option(name, option.description);
    return;
  }
  const choices = choicesOf(option) ?? [];
  known.option(name, option.description, (complete) => {
    for (const choice of choices) complete(choice, '');
  });
}

/** What `print` writes to the console, which is where the library writes. */
function printed(print: () => void): string {
  const lines: string[] = [];
  const { log } = console;
  console.log = (...parts: unknown[]) => lines.push(parts.join(' '));
  try {
    print();
  } finally {
    console.log = log;
  }
  return lines.map((line) => `${line}\n`).join('');
}
