/**
 * @file This build against that of another checkout, such as the commit before a change:
 *
 *   npm run bench -- against CHECKOUT [--pairs 15] [--json]                       tables
 *   npm run bench -- against CHECKOUT --dir DIR --model M --batch B --threads T   `bench -- ctr`
 *
 * CHECKOUT is a folder in which that commit was built. Every measurement is a process of its own, the two take turns,
 * and every other pair is the other way round. A ratio is ours over theirs within a pair: the median over the pairs,
 * with a range that holds it 95 times in 100. CPU time is what to look at on a machine that others use.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { MonolithError } from '../src/base/errors.js';
import { type Machine, machine, machineText, median, table } from './harness.js';
import { medianInterval, ratiosOf, takeTurns } from './rounds.js';

const CHILD = fileURLToPath(new URL('./against-child.js', import.meta.url));
const HERE = dirname(dirname(dirname(CHILD)));
const PAIRS = 15;
/** A turn of the largest model takes seconds; one that takes this long hangs. */
const TURN_MS = 600_000;

export interface AgainstOptions {
  /** The other checkout, built. */
  readonly checkout: string;
  /** Default: 15. */
  readonly pairs?: number;
  /** Options of `bench -- ctr`; tables are measured without them. */
  readonly ctr?: readonly string[];
  /** A small size, to show that everything runs. Default: false. */
  readonly quick?: boolean;
}

export interface AgainstReport extends Machine {
  readonly pairs: number;
  readonly results: readonly {
    readonly what: string;
    /** Of this build, the median. */
    readonly ours: number;
    /** Ours over theirs. */
    readonly ratio: number;
    readonly interval: readonly [low: number, high: number];
  }[];
}

type Numbers = Readonly<Record<string, unknown>>;

/** What the child of a checkout printed last: its lines put together. */
async function turn(checkout: string, args: readonly string[]): Promise<Numbers> {
  const options = { timeout: TURN_MS, maxBuffer: 1 << 24 };
  const { stdout } = await promisify(execFile)(process.execPath, [CHILD, checkout, ...args], options);
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  return Object.assign({}, ...lines.map((line) => JSON.parse(line) as Numbers));
}

export async function runAgainst({ checkout, pairs = PAIRS, ctr, quick }: AgainstOptions): Promise<AgainstReport> {
  if (!existsSync(join(checkout, 'build/src/index.js'))) {
    throw new MonolithError('ML_FLAG', { flag: 'CHECKOUT', reason: `${checkout} has no build` });
  }
  const args = ctr === undefined ? ['table', ...(quick ? ['quick'] : [])] : ['ctr', ...ctr];
  const sides = [checkout, HERE].map((folder) => () => turn(folder, args));
  const rounds = await takeTurns(sides, { rounds: pairs, roundsMax: pairs });
  const names = ctr === undefined ? Object.keys(rounds.values[1]![0]!) : ['examples_per_s', 'cpu_s', 'peak_rss_mb'];
  const results = names.map((what) => {
    const pick = (numbers: Numbers) => Number(numbers[what]);
    const ratios = ratiosOf(rounds, 1, 0, pick);
    const ours = median(rounds.values[1]!.map(pick));
    return { what, ours, ratio: median(ratios), interval: medianInterval(ratios) };
  });
  return { ...machine(), pairs, results };
}

function text(report: AgainstReport): string {
  const rows = report.results.map(({ what, ours, ratio, interval }) => [
    what,
    ours.toPrecision(4),
    ratio.toFixed(3),
    `${interval[0].toFixed(3)} to ${interval[1].toFixed(3)}`,
  ]);
  return `${machineText(report)}, ${report.pairs} pairs\n\n${table(['', 'ours', 'ours over theirs', '95 %'], rows)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      pairs: { type: 'string', default: String(PAIRS) },
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      dir: { type: 'string' },
      model: { type: 'string', default: 'deepfm' },
      batch: { type: 'string', default: '4096' },
      threads: { type: 'string', default: '2' },
    },
  });
  const { dir, model, batch, threads } = values;
  const report = await runAgainst({
    checkout: resolve(positionals[0] ?? '.'),
    pairs: Number(values.pairs),
    quick: values.quick,
    ...(dir !== undefined && { ctr: ['--dir', dir, '--model', model, '--batch', batch, '--threads', threads] }),
  });
  console.log(values.json ? JSON.stringify(report, null, 2) : text(report));
}
