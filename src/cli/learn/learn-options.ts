/** @file The flags of `monolith train` on a table of data or a model of one's own: what the demo has no use for. */
import { z } from 'zod';
import { MonolithError } from '../../base/errors.js';
import { ZOO_MODELS } from '../../recipe/recipe.js';
import { decimalNumber, flagMeta, oneOf, pathName, refuse, switchFlag, wholeNumber } from '../flags.js';
import { DATA_SOURCES } from '../train-job.js';
import { trainFlags } from '../train-options.js';
import type { OwnModel } from './own-model.js';

const I32_MAX = 2 ** 31 - 1;
const EPOCHS = 10;
const PATIENCE = 2;
const FORMATS = ['csv', 'jsonl', 'tfrecord', 'parquet'] as const;

/** Names with commas between them. */
const names = () =>
  z.string().transform((text, context): string[] => {
    const found = text.split(',').map((name) => name.trim());
    if (found.every((name) => name !== '')) return found;
    return refuse(context, `must be names with commas between them, found "${text}"`, 'write a,b for two columns');
  });

/** `movies.csv:movieId`, several with commas between them. */
export const sideTables = () =>
  z.string().transform((text, context): { file: string; key: string }[] => {
    const found = text.split(',').map((one) => /^(.+):([^:]+)$/.exec(one.trim()));
    if (found.every((match) => match !== null)) return found.map((match) => ({ file: match![1]!, key: match![2]! }));
    return refuse(context, `must be FILE:COLUMN, found "${text}"`, 'such as --with movies.csv:movieId');
  });

/** `genres:|`, several with commas between them. */
const lists = () =>
  z.string().transform((text, context): ReadonlyMap<string, string> => {
    const found = text.split(/,(?!$)/).map((one) => /^(.+):(.+)$/.exec(one.trim()));
    if (found.every((match) => match !== null)) return new Map(found.map((match) => [match![1]!, match![2]!]));
    return refuse(context, `must be COLUMN:MARK, found "${text}"`, "such as --list 'genres:|'");
  });

const column = (help: string) => names().nullable().default(null).register(flagMeta, { value: 'columns', help });

/** Where rows come from. */
export const dataFlag = z
  .string()
  .min(1)
  .nullable()
  .default(null)
  .register(flagMeta, {
    value: 'files',
    help:
      'a file or a pattern of them, - for standard input, demo:clicks for made-up clicks; or, for the built-in demo, ' +
      'clicks or reference',
    defaultText: 'clicks of the built-in demo',
  });

/** How files of data are read. */
export const fileFlags = {
  format: oneOf(FORMATS)
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'name', help: `${FORMATS.join(', ')}`, defaultText: 'by the name of the file' }),
  delimiter: z.string().min(1).nullable().default(null).register(flagMeta, {
    value: 'mark',
    help: 'what stands between cells of a CSV file',
    defaultText: 'found out',
  }),
  columns: column('names of the columns of a CSV file, in place of those in it'),
  null: names()
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'texts', help: 'texts that are missing values, besides the empty one' }),
  badRows: oneOf(['stop', 'skip'])
    .default('stop')
    .register(flagMeta, { value: 'policy', help: 'a row that cannot be read: stop, or skip and count it' }),
  badRowsMax: wholeNumber(0, I32_MAX)
    .default(1000)
    .register(flagMeta, { value: 'count', help: 'rows that may be skipped before it is an error after all' }),
};

/** What columns are for, where a guess is wrong. */
export const columnFlags = {
  id: column('columns whose values are ids'),
  number: column('columns that are numbers'),
  time: column('the column that is the time'),
  ignore: column('columns that are left out'),
  words: column('columns of text whose words are ids'),
  list: lists().nullable().default(null).register(flagMeta, {
    value: 'column:mark',
    help: 'columns of many ids, with what stands between them',
  }),
};

/** Flags that only a table of data has. */
export const tableFlags = {
  label: z.string().min(1).nullable().default(null).register(flagMeta, {
    value: 'column',
    help: "what is predicted: a column of 0 and 1 or of two texts, or a rule such as 'rating>=3.5' or 'plan==pro'",
  }),
  with: sideTables().nullable().default(null).register(flagMeta, {
    value: 'file:column',
    help: 'put the columns of a smaller table beside rows of the same key',
  }),
  split: z.string().min(1).nullable().default(null).register(flagMeta, {
    value: 'way',
    help: 'what is held out: time, the newest rows; row, by a hash of its number; or a column, whole values of it',
    defaultText: 'time where a column is one, else row',
  }),
  evalData: pathName()
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'file', help: 'rows that report, in place of a tenth of --data' }),
  epochs: wholeNumber(1, 10_000)
    .default(EPOCHS)
    .register(flagMeta, { value: 'count', help: 'passes over the data at the most; early stopping ends it before' }),
  dim: wholeNumber(1, 1024)
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'floats', help: 'floats of an embedding', defaultText: '16; 4 for ffm' }),
  pieces: wholeNumber(0, 1000).nullable().default(null).register(flagMeta, {
    value: 'count',
    help: 'pieces that a number is seen in at the most, by its quantiles; 0: as it is alone',
    defaultText: '32; fewer where there are few rows',
  }),
  ...columnFlags,
  ...fileFlags,
  smoke: switchFlag().register(flagMeta, {
    help: 'try everything on a few rows in a temporary folder: 3 steps, an evaluation, a save, a restore, predictions',
  }),
  eject: pathName()
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'file', help: 'write the model that this command stands for, in TypeScript' }),
  cache: switchFlag().register(flagMeta, {
    help: 'keep parsed rows in .monolith-cache beside the data: the next run on the same files does not parse them',
  }),
  cacheDir: pathName()
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'dir', help: 'the same in another folder' }),
  freshEvery: wholeNumber(1, 86_400)
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'secs', help: 'keep RUN/fresh for monolith serve --follow RUN, a delta so often' }),
  report: z.boolean().default(true).register(flagMeta, { help: 'make no report.html at the end', negated: true }),
};

const {
  steps,
  until,
  threads,
  backend,
  cudaDriver,
  modelDir,
  seed,
  deterministic,
  tableMemory,
  whenFull,
  prefetch,
  postpush,
  trace,
  saveEvery,
  metric,
  summaryEvery,
  config,
  dryRun,
  json,
  quiet,
  verbose,
} = trainFlags.shape;

export const learnFlags = z
  .object({
    ...tableFlags,
    data: dataFlag,
    model: oneOf(ZOO_MODELS).default('deepfm'),
    batchSize: wholeNumber(1, 1 << 20).default(256),
    earlyStop: wholeNumber(0, I32_MAX).default(PATIENCE),
    minDelta: decimalNumber().default(0),
    ...{ steps, until, threads, backend, cudaDriver, modelDir, seed, deterministic, tableMemory, whenFull },
    ...{ prefetch, postpush, trace, saveEvery, metric, summaryEvery, config, dryRun, json, quiet, verbose },
  })
  .superRefine((flags, context) => {
    if (flags.quiet && flags.verbose) refuse(context, 'contradicts --verbose', 'give one of the two', 'quiet');
    if (flags.split !== null && flags.evalData !== null) {
      refuse(context, 'says what is held out, as --eval-data does', 'give one of the two', 'split');
    }
  });

export type LearnFlags = z.output<typeof learnFlags> & {
  /** A module with a model of one's own. */
  readonly file: string | null;
  /** What it exports. */
  readonly own: OwnModel | null;
};

/** Whether a command line is about a table or a model of one's own, and not the built-in demo. */
export function isLearning(raw: Readonly<Record<string, unknown>>, file: string | null): boolean {
  if (file !== null) return true;
  if (raw.data === undefined) return Object.keys(tableFlags).some((key) => key in raw && key !== 'report');
  return !(DATA_SOURCES as readonly unknown[]).includes(raw.data);
}

/** ML_FLAG for flags of the other kind of training, which would change nothing. */
export function refuseStrangers(keys: readonly string[], known: readonly string[], isLearn: boolean): void {
  const stranger = keys.find((key) => !known.includes(key));
  if (stranger === undefined) return;
  const flag = `--${stranger.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const [reason, hint] = isLearn
    ? ['is of the built-in demo alone', 'leave it out, or leave --data FILE out']
    : ['is for a table of data', 'add --data FILE'];
  throw new MonolithError('ML_FLAG', { flag, reason }, { hint });
}
