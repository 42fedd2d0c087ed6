/** @file The flags of `monolith table` and its commands. */
import { z } from 'zod';
import { flagMeta, outputFlags, pathName, quietFlag, wholeNumber } from '../flags.js';
import { fileFlags } from '../learn/learn-options.js';

const shared = {
  table: z.string().min(1).nullable().default(null).register(flagMeta, {
    value: 'feature',
    help: 'the feature whose table it is',
    defaultText: 'the only one',
  }),
  checkpoint: pathName().nullable().default(null).register(flagMeta, {
    value: 'prefix',
    help: 'checkpoint such as RUN/model.ckpt-100',
    defaultText: 'the best one',
  }),
  ...quietFlag,
  ...outputFlags,
};

export const tableExportFlags = z.object({
  out: pathName().nullable().default(null).register(flagMeta, {
    value: 'file',
    help: 'where rows go: .csv, .tsv, .jsonl, .tfrecord or .parquet',
  }),
  ...shared,
});
export const tableImportFlags = z.object({
  data: z.string().min(1).nullable().default(null).register(flagMeta, {
    value: 'files',
    help: 'rows to set: the column of the feature, or id, and values, v0, v1 and so on or one list',
  }),
  out: pathName()
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'dir', help: 'model directory that the changed checkpoint is saved to' }),
  ...shared,
  ...fileFlags,
});
export const tableNearestFlags = z.object({
  id: z.string().min(1).nullable().default(null).register(flagMeta, {
    value: 'value',
    help: 'whose neighbours are looked for, as the data has it',
  }),
  top: wholeNumber(1, 100_000).default(10).register(flagMeta, { value: 'count', help: 'how many' }),
  show: z.string().min(1).nullable().default(null).register(flagMeta, {
    value: 'columns',
    help: 'columns of tables beside to show, with commas between them',
  }),
  ...shared,
});

export type TableExportFlags = z.output<typeof tableExportFlags>;
export type TableImportFlags = z.output<typeof tableImportFlags>;
export type TableNearestFlags = z.output<typeof tableNearestFlags>;
