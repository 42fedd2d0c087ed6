/**
 * @file Numbers that stand in the documentation and in the code are the same.
 *
 * A row is a page, the words around its number, and the constant it is the value of. The constant is read from the
 * source, so that it need not be exported for this. A row whose words or whose constant is gone fails.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const root = fileURLToPath(new URL('../../', import.meta.url));
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

interface Stated {
  readonly page: string;
  /** The words; each `#` stands for the number, white space for any. */
  readonly words: string;
  readonly file: string;
  readonly constant: string;
  /** The page's number times this is the constant's: 1024 for KiB. Default: 1. */
  readonly unit?: number;
}

const THREADS_FROM = { file: 'src/sparse/files/shard-threads.ts', constant: 'ROWS_MIN' } as const;
const SLICES = { file: 'src/runtime/backends/slice-for-threads.ts', constant: 'DETERMINISTIC_SLICES' } as const;
const PARTITION_BITS = { file: 'src/memory/table-layout.ts', constant: 'PARTITIONS_LOG2' } as const;
const EXPIRE_DAYS = { file: 'src/feature/model/feature-slot.ts', constant: 'DEFAULT_EXPIRE_DAYS' } as const;
const EVERY_TRACED = { file: 'src/runtime/compile/write-contexts.ts', constant: 'TRACED_KERNELS_EVERY' } as const;

const STATED: readonly Stated[] = [
  {
    page: 'docs/checkpoints.md',
    words: 'The newest # are kept',
    file: 'src/checkpoint/save-checkpoint.ts',
    constant: 'DEFAULT_KEEP',
  },
  { page: 'docs/architecture.md', words: '(# deep)', file: 'src/data/data-reader.ts', constant: 'DEPTH_MAX' },
  { page: 'docs/architecture.md', words: 'From # rows on shards are written by threads', ...THREADS_FROM },
  { page: 'docs/checkpoints.md', words: 'From # rows on, the shards of a table', ...THREADS_FROM },
  { page: 'docs/architecture.md', words: 'there are always # slices', ...SLICES },
  { page: 'docs/parity.md', words: 'fixes the number of slices at #', ...SLICES },
  { page: 'docs/architecture.md', words: 'The top # choose the partition', ...PARTITION_BITS },
  {
    page: 'docs/architecture.md',
    words: 'Up to # floats each slice adds all parts up',
    file: 'src/graph/ops/batch-sum.ts',
    constant: 'SMALL_FLOATS',
  },
  {
    page: 'docs/architecture.md',
    words: 'columns of up to # rows',
    file: 'src/sparse/files/row-decoder.ts',
    constant: 'COLUMN_ROWS_MAX',
  },
  {
    page: 'docs/architecture.md',
    words: 'about # milliseconds',
    file: 'src/train/local-train.ts',
    constant: 'GROUP_MS',
  },
  {
    page: 'docs/tables.md',
    words: 'Default: `capacity` #,',
    file: 'src/sparse/admission/hash-filter.ts',
    constant: 'DEFAULT_FILTER_CAPACITY',
  },
  {
    page: 'docs/tables.md',
    words: '`splitNum` #. |',
    file: 'src/sparse/admission/hash-filter.ts',
    constant: 'DEFAULT_SPLIT_NUM',
  },
  { page: 'docs/tables.md', words: '`defaultExpireTime` for all others. Default: #.', ...EXPIRE_DAYS },
  {
    page: 'docs/models.md',
    words: 'from counts in # buckets',
    file: 'src/metrics/bucketed-auc.ts',
    constant: 'BUCKETS',
  },
  { page: 'docs/models.md', words: 'by # thresholds', file: 'src/metrics/bucketed-auc.ts', constant: 'THRESHOLDS' },
  {
    page: 'docs/tracing.md',
    words: 'events of # bytes',
    file: 'src/memory/trace-layout.ts',
    constant: 'TRACE_RECORD_BYTES',
  },
  {
    page: 'docs/tracing.md',
    words: 'the last # events of each thread',
    file: 'src/cli/run-train-job.ts',
    constant: 'TRACE_EVENTS',
  },
  { page: 'docs/tracing.md', words: 'kernel call in one step of #', ...EVERY_TRACED },
  { page: 'docs/tracing.md', words: 'of one step in #, and so are copies', ...EVERY_TRACED },
  {
    page: 'docs/cli.md',
    words: 'there is one line each # seconds',
    file: 'src/cli/progress.ts',
    constant: 'LINE_INTERVAL_MS',
    unit: 1000,
  },
  {
    page: 'docs/queues.md',
    words: '(`timeoutMs`, # minutes)',
    file: 'src/base/async-queue.ts',
    constant: 'TIMEOUT_MS',
    unit: 60_000,
  },
];

const WORDS: Readonly<Record<string, number>> = { five: 5 };
const NUMBER = '(\\d[\\d,.]*(?: million| billion)?|[a-z]+)';

/** The number a page states, as people write it. */
function readNumber(text: string): number {
  const [, digits, scale] = /^([\d,]+(?:\.\d+)?)[.,]?(?: (million|billion))?$/.exec(text) ?? [];
  if (digits === undefined) return WORDS[text] ?? Number.NaN;
  return Number(digits.replaceAll(',', '')) * (scale === 'million' ? 1e6 : scale === 'billion' ? 1e9 : 1);
}

/** The number that a constant is set to: a literal, or a product or power of two of literals. */
function readConstant(file: string, name: string): number {
  const text = new RegExp(`^(?:export )?const ${name} = ([^;]+);`, 'm').exec(textOf(file))?.[1] ?? '';
  const factors = text.split('*').map((part) => part.trim().replaceAll('_', ''));
  const shift = /^1 << (\d+)$/.exec(text)?.[1];
  return shift === undefined
    ? factors.reduce((product, part) => product * Number(part || 'none'), 1)
    : 2 ** Number(shift);
}

function patternOf(words: string): RegExp {
  const escaped = words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+');
  return new RegExp(escaped.replaceAll('#', NUMBER));
}

for (const { page, words, file, constant, unit = 1 } of STATED) {
  t.test(`${page} and ${constant} of ${file} say the same: ${words}`, async (t) => {
    const found = patternOf(words).exec(textOf(page))?.[1];
    if (found === undefined) return t.fail(`the page has no such words`);
    t.equal(readNumber(found) * unit, readConstant(file, constant));
  });
}
