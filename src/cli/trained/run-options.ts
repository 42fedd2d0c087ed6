/** @file The flags of the commands that go on from the folder of a run. */
import { z } from 'zod';
import { flagMeta, oneOf, outputFlags, pathName, quietFlag, wholeNumber } from '../flags.js';
import { fileFlags, sideTables } from '../learn/learn-options.js';
import { BACKENDS } from '../train-job.js';

const U32_MAX = 2 ** 32 - 1;

const dataOf = (help: string) =>
  z.string().min(1).nullable().default(null).register(flagMeta, { value: 'files', help });

const common = {
  checkpoint: pathName().nullable().default(null).register(flagMeta, {
    value: 'prefix',
    help: 'checkpoint such as RUN/model.ckpt-100',
    defaultText: 'the best one',
  }),
  threads: wholeNumber(1, 64)
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'count', help: 'threads that compute', defaultText: 'all cores' }),
  backend: oneOf(BACKENDS)
    .default('wasm')
    .register(flagMeta, { value: 'name', help: BACKENDS.join(', ') }),
  module: pathName().nullable().default(null).register(flagMeta, {
    value: 'file',
    help: "the module of a run of a model of one's own: no folder runs code, so it is named again",
  }),
  with: sideTables().nullable().default(null).register(flagMeta, {
    value: 'file:column',
    help: 'tables beside the rows of --data, of a run of a module',
    defaultText: 'those of the run',
  }),
  ...fileFlags,
  ...quietFlag,
  ...outputFlags,
};

const judged = dataOf('rows to judge it by, with labels, in place of those that the run held out');

export const evalFlags = z.object({ data: judged, ...common });
export const explainFlags = z.object({
  data: judged,
  repeats: wholeNumber(1, 100).default(3).register(flagMeta, { value: 'count', help: 'shuffles of each column' }),
  seed: wholeNumber(0, U32_MAX).default(0).register(flagMeta, { value: 'number', help: 'seed of the shuffles' }),
  ...common,
});
export const compareFlags = z.object({ data: judged, ...common });
export const predictFlags = z.object({
  data: dataOf('rows to predict on: files, a pattern of them, or - for standard input'),
  out: pathName().nullable().default(null).register(flagMeta, {
    value: 'file',
    help: 'where predictions go: .csv, .tsv, .jsonl, .tfrecord or .parquet',
    defaultText: 'standard output, as CSV',
  }),
  ...common,
});
export const recommendFlags = z.object({
  for: z.string().min(1).nullable().default(null).register(flagMeta, {
    value: 'column=value',
    help: 'whom it is for, several with commas between them; without it a line of JSON from standard input',
  }),
  item: z.string().min(1).nullable().default(null).register(flagMeta, {
    value: 'column',
    help: 'the column of what is recommended',
    defaultText: 'the key of a side table, else the id column of most values',
  }),
  top: wholeNumber(1, 100_000).default(10).register(flagMeta, { value: 'count', help: 'how many to recommend' }),
  show: z.string().min(1).nullable().default(null).register(flagMeta, {
    value: 'columns',
    help: 'columns to show beside, with commas between them',
  }),
  data: dataOf('rows of the past: what there is to recommend, and what was seen; those of the run else'),
  seen: z.boolean().default(true).register(flagMeta, { help: 'recommend what was seen too', negated: true }),
  ...common,
});

export type EvalFlags = z.output<typeof evalFlags>;
export type ExplainFlags = z.output<typeof explainFlags>;
export type CompareFlags = z.output<typeof compareFlags>;
export type PredictFlags = z.output<typeof predictFlags>;
export type RecommendFlags = z.output<typeof recommendFlags>;
