/**
 * @file Flags of commands, which are loaded for the command that a command line names: their schemas need zod, which
 * costs fifty milliseconds, and what there is to choose from is shown without.
 */
import type { Command } from 'commander';
import type { z } from 'zod';

type Shape = Readonly<Record<string, z.ZodType>>;
type FlagSchema = z.ZodObject<Record<string, z.ZodType>>;

/** How the flags of a command are got, those in front first. */
const loaders = new WeakMap<Command, (() => Promise<void>)[]>();

/** Gives `command` a flag for each key of what `load` gives, once `fillFlags` asks for it. */
export function addFlags(command: Command, load: () => Promise<{ readonly shape: Shape }>, group?: string): Command {
  const known = loaders.get(command) ?? [];
  known.push(async () => {
    const [{ addOptions }, { shape }] = await Promise.all([import('./flags.js'), load()]);
    addOptions(command, shape, group);
  });
  loaders.set(command, known);
  return command;
}

/** Loads the flags of the commands in `program` that `words` name; of all of them without words. */
export async function fillFlags(program: Command, words?: readonly string[]): Promise<void> {
  for (const command of program.commands) {
    if (words !== undefined && !words.includes(command.name())) continue;
    const known = loaders.get(command) ?? [];
    loaders.delete(command);
    for (const load of known) await load();
    await fillFlags(command, words);
  }
}

/** What a list of commands says of one: its name, that it has flags, and its arguments. */
export function commandTerm(command: Command): string {
  const hasFlags = loaders.has(command) || command.options.length > 0;
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...(hasFlags ? ['[options]'] : []), ...words].join(' ');
}

/** The checked values of the flags in `raw`, with defaults filled in. */
export async function parseFlags<S extends FlagSchema>(
  load: () => Promise<S>,
  raw: unknown,
  command: string,
): Promise<z.output<S>> {
  const [flags, schema] = await Promise.all([import('./flags.js'), load()]);
  return flags.parseFlags(schema, raw, command);
}
