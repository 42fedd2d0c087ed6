/** @file Registers `monolith data` and what it holds. */
import { addFlags, parseFlags } from '../command-flags.js';
import { DATA_HELP } from '../help-texts.js';
import { type AddCommands, addGroup } from './command-parts.js';

const convertFlags = async () => (await import('../data/data-options.js')).convertFlags;
const generateFlags = async () => (await import('../data/data-options.js')).generateFlags;
const headFlags = async () => (await import('../data/data-options.js')).headFlags;
const schemaFlags = async () => (await import('../data/data-options.js')).schemaFlags;
const statFlags = async () => (await import('../data/data-options.js')).statFlags;

const FILES = 'a file, a pattern of them in quotes, or - for standard input';

export const addDataCommands: AddCommands = (program, { io, setExit }) => {
  const data = addGroup(program, 'data', 'Look at data, convert it, make some up.', DATA_HELP);
  addFlags(data.command('head').description('Show the first rows, as they are read.'), headFlags)
    .argument('<files>', FILES)
    .action(async (files: string, raw: unknown) => {
      const flags = await parseFlags(headFlags, raw, 'data head');
      setExit(await (await import('../data/head-command.js')).runHeadCommand(files, flags, io));
    });
  addFlags(data.command('stat').description('Tell what each column is like, over all rows.'), statFlags)
    .argument('<files>', FILES)
    .action(async (files: string, raw: unknown) => {
      const flags = await parseFlags(statFlags, raw, 'data stat');
      setExit(await (await import('../data/stat-command.js')).runStatCommand(files, flags, io));
    });
  addFlags(data.command('schema').description('Print the schema of a file as TypeScript.'), schemaFlags)
    .argument('<files>', FILES)
    .action(async (files: string, raw: unknown) => {
      const flags = await parseFlags(schemaFlags, raw, 'data schema');
      setExit(await (await import('../data/schema-command.js')).runSchemaCommand(files, flags, io));
    });
  addFlags(data.command('convert').description('Write rows as a file of another format.'), convertFlags)
    .argument('<files>', FILES)
    .action(async (files: string, raw: unknown) => {
      const flags = await parseFlags(convertFlags, raw, 'data convert');
      setExit(await (await import('../data/convert-command.js')).runConvertCommand(files, flags, io));
    });
  addFlags(data.command('generate').description('Make up clicks whose rule is known.'), generateFlags)
    .argument('<what>', 'clicks')
    .action(async (what: string, raw: unknown) => {
      const flags = await parseFlags(generateFlags, raw, 'data generate');
      setExit(await (await import('../data/generate-command.js')).runGenerateCommand(what, flags, io));
    });
};
