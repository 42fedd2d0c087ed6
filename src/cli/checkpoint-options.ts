/** @file The flags of `monolith checkpoint` and its four commands. */
import { z } from 'zod';
import { flagMeta, switchFlag, wholeNumber } from './flags.js';

const outputFlags = {
  json: switchFlag().register(flagMeta, { help: 'print JSON' }),
  verbose: switchFlag().register(flagMeta, { help: 'show causes and stacks of errors' }),
};

export const listFlags = z.object(outputFlags);
export const verifyFlags = z.object({
  latest: switchFlag().register(flagMeta, { help: 'the latest checkpoint of the directory only' }),
  ...outputFlags,
});
export const copyFlags = z.object({
  link: switchFlag().register(flagMeta, { help: 'hard links in place of copies, on the same disk: nothing is read' }),
  ...outputFlags,
});
export const pruneFlags = z.object({
  keep: wholeNumber(1, 1_000_000)
    .default(5)
    .register(flagMeta, { value: 'count', help: 'checkpoints to keep, besides exempt ones' }),
  unlisted: switchFlag().register(flagMeta, { help: 'delete checkpoints that no state file lists too' }),
  yes: switchFlag().register(flagMeta, { help: 'delete; without it, only say what would be deleted' }),
  ...outputFlags,
});
