/** @file Registers `monolith checkpoint` and what it holds. */
import { addFlags, parseFlags } from '../command-flags.js';
import { CHECKPOINT_HELP } from '../help-texts.js';
import { type AddCommands, addGroup } from './command-parts.js';

const copyFlags = async () => (await import('../checkpoint-options.js')).copyFlags;
const listFlags = async () => (await import('../checkpoint-options.js')).listFlags;
const pruneFlags = async () => (await import('../checkpoint-options.js')).pruneFlags;
const verifyFlags = async () => (await import('../checkpoint-options.js')).verifyFlags;

export const addCheckpointCommands: AddCommands = (program, { io, setExit }) => {
  const description = 'List, verify, copy and delete checkpoints.';
  const checkpoint = addGroup(program, 'checkpoint', description, CHECKPOINT_HELP);
  const load = () => import('../checkpoint-command.js');
  addFlags(checkpoint.command('list').description('List the checkpoints of a model directory.'), listFlags)
    .argument('<dir>', 'model directory')
    .action(async (dir: string, raw: unknown) => {
      setExit((await load()).runListCommand(dir, await parseFlags(listFlags, raw, 'checkpoint list'), io));
    });
  addFlags(
    checkpoint.command('verify').description('Read a checkpoint, or all of a directory, and check every byte.'),
    verifyFlags,
  )
    .argument('<path>', 'model directory, or checkpoint like DIR/model.ckpt-100')
    .action(async (path: string, raw: unknown) => {
      setExit(await (await load()).runVerifyCommand(path, await parseFlags(verifyFlags, raw, 'checkpoint verify'), io));
    });
  addFlags(checkpoint.command('copy').description('Copy a checkpoint into another model directory.'), copyFlags)
    .argument('<checkpoint>', 'checkpoint like DIR/model.ckpt-100, or model directory for its latest')
    .argument('<dir>', 'model directory to copy to, made when needed')
    .action(async (path: string, dir: string, raw: unknown) => {
      setExit(await (await load()).runCopyCommand(path, dir, await parseFlags(copyFlags, raw, 'checkpoint copy'), io));
    });
  addFlags(checkpoint.command('prune').description('Delete old checkpoints of a model directory.'), pruneFlags)
    .argument('<dir>', 'model directory')
    .action(async (dir: string, raw: unknown) => {
      setExit(await (await load()).runPruneCommand(dir, await parseFlags(pruneFlags, raw, 'checkpoint prune'), io));
    });
};
