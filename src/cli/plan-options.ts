/** @file The flags of `monolith plan`. */
import { z } from 'zod';
import { suggest } from '../base/suggest.js';
import { ROW_DIM_MAX, THREADS_MAX } from '../memory/limits.js';
import { OPTIMIZER_NUMBER } from '../memory/optimizer-layout.js';
import type { PlannedOptimizer } from '../sparse/config/optimizer-plan.js';
import { flagMeta, refuse, switchFlag, wholeNumber } from './flags.js';
import { humanBytes, humanCount } from './human-size.js';
import { defaultThreads } from './train-options.js';

const OPTIMIZERS = Object.keys(OPTIMIZER_NUMBER) as PlannedOptimizer[];
const ROWS_MAX = 1e12;
const SHARDS_MAX = 100_000;
const BYTES_MIN = 2 ** 20;
const BYTES_MAX = 2 ** 50;

/** Parts of a list with commas between; an empty part is a slip. */
function listOf<T>(parse: (part: string, context: z.RefinementCtx) => T, example: string) {
  return z.string().transform((text, context): T[] => {
    const parts = text.split(',');
    if (parts.some((part) => part === '' || part !== part.trim())) {
      return refuse(
        context,
        `must be a list with commas and nothing else between, found "${text}"`,
        `write ${example}`,
      );
    }
    if (parts.length > ROW_DIM_MAX) {
      return refuse(context, `has ${parts.length} parts, a table has at most ${ROW_DIM_MAX}`, undefined);
    }
    return parts.map((part) => parse(part, context));
  });
}

function dimOf(text: string, context: z.RefinementCtx): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= ROW_DIM_MAX) return value;
  return refuse(context, `a dimension must be a whole number from 1 to ${ROW_DIM_MAX}, found "${text}"`, 'write 16,1');
}

function optimizerOf(text: string, context: z.RefinementCtx): PlannedOptimizer {
  const found = OPTIMIZERS.find((name) => name === text);
  if (found !== undefined) return found;
  const near = suggest(text.replace(/[-_]/g, ''), OPTIMIZERS);
  const hint = near === undefined ? `it takes ${OPTIMIZERS.join(', ')}` : `did you mean ${near}?`;
  return refuse(context, `unknown optimizer "${text}"`, hint);
}

export const planFlags = z
  .object({
    rows: humanCount(1, ROWS_MAX).optional().register(flagMeta, {
      value: 'count',
      help: 'ids the table will hold: 250000, 250k, 10m, 1.5b (required)',
    }),
    dims: listOf(dimOf, '16,1').optional().register(flagMeta, {
      value: 'list',
      help: 'floats of each segment of a row: 16 or 16,1 (required)',
    }),
    optimizer: listOf(optimizerOf, 'adagrad,ftrl')
      .default(['adagrad'])
      .register(flagMeta, {
        value: 'list',
        help: `one for all segments or one for each: ${OPTIMIZERS.join(', ')}`,
        defaultText: 'adagrad',
      }),
    threads: wholeNumber(1, THREADS_MAX)
      .default(defaultThreads)
      .register(flagMeta, {
        value: 'count',
        help: 'threads that will train: so many indexes may grow at once',
        defaultText: `all cores, here ${defaultThreads()}`,
      }),
    shards: wholeNumber(1, SHARDS_MAX)
      .default(1)
      .register(flagMeta, { value: 'count', help: 'tables, in processes of their own, that share the rows' }),
    budget: humanBytes(BYTES_MIN, BYTES_MAX).nullable().default(null).register(flagMeta, {
      value: 'size',
      help: 'memory that a table may take: 512m, 8g (the same as 8GiB), 8GB; exit code 1 when it takes more',
    }),
    json: switchFlag().register(flagMeta, { help: 'print JSON' }),
    verbose: switchFlag().register(flagMeta, { help: 'show causes and stacks of errors' }),
  })
  .superRefine((flags, context) => {
    const { rows, dims, optimizer, shards } = flags;
    if (rows === undefined) refuse(context, 'is missing', 'say how many ids there will be: --rows 10m', 'rows');
    else if (dims === undefined) refuse(context, 'is missing', 'say how long an embedding is: --dims 16', 'dims');
    else if (shards > rows)
      refuse(context, `${shards} tables cannot share ${rows} rows`, `it takes ${rows} at the most`, 'shards');
    else if (optimizer.length !== 1 && optimizer.length !== dims.length) {
      const reason = `names ${optimizer.length} optimizers for ${dims.length} segments`;
      refuse(context, reason, 'give one for all segments, or one for each of --dims', 'optimizer');
    } else if (dims.some((dim, i) => dim !== 1 && (optimizer[i] ?? optimizer[0]) === 'batchSoftmax')) {
      refuse(context, 'batchSoftmax takes segments of dimension 1', 'give --dims 1 to that segment', 'optimizer');
    }
  });

export type PlanFlags = z.output<typeof planFlags>;
