/** @file The flags of `monolith data` and its commands. */
import { z } from 'zod';
import { flagMeta, outputFlags, pathName, quietFlag, wholeNumber } from '../flags.js';
import { humanCount } from '../human-size.js';
import { columnFlags, fileFlags } from '../learn/learn-options.js';

const rows = (fallback: number, help: string) =>
  wholeNumber(1, 2 ** 31 - 1)
    .default(fallback)
    .register(flagMeta, { value: 'count', help });
const label = z.string().min(1).nullable().default(null).register(flagMeta, {
  value: 'column',
  help: "what is predicted, or a rule such as 'rating>=3.5'",
});
const out = pathName().nullable().default(null).register(flagMeta, {
  value: 'file',
  help: 'where rows go: .csv, .tsv, .jsonl, .tfrecord or .parquet',
});
const shared = { ...fileFlags, ...quietFlag, ...outputFlags };

export const headFlags = z.object({ rows: rows(10, 'rows to show'), ...shared });
export const statFlags = z.object({ label, ...columnFlags, ...shared });
export const schemaFlags = z.object({ label, ...columnFlags, ...shared });
export const convertFlags = z.object({
  out,
  text: z.string().min(1).nullable().default(null).register(flagMeta, {
    value: 'columns',
    help: 'columns that stay texts, with commas between them',
  }),
  take: wholeNumber(1, 2 ** 31 - 1)
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'count', help: 'the first rows alone' }),
  ...shared,
});

export const generateFlags = z.object({
  rows: humanCount(1, 1_000_000_000)
    .default(100_000)
    .register(flagMeta, { value: 'count', help: 'rows to make up, such as 50000 or 1m' }),
  seed: wholeNumber(0, 2 ** 32 - 1)
    .default(2026)
    .register(flagMeta, { value: 'number', help: 'who clicks on what, and when' }),
  out,
  ...quietFlag,
  ...outputFlags,
});

export type GenerateFlags = z.output<typeof generateFlags>;
export type HeadFlags = z.output<typeof headFlags>;
export type StatFlags = z.output<typeof statFlags>;
export type SchemaFlags = z.output<typeof schemaFlags>;
export type ConvertFlags = z.output<typeof convertFlags>;
