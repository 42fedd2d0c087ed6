/**
 * @file Training on ctr-ref from files beside training from memory: `npm run bench -- ctr-feeds --dir DIR
 * [--models lr,deepfm] [--feeds csv,jsonl,tfrecord] [--batch B] [--threads T] [--rounds N]`. In each round every feed
 * trains once, in a process of its own; the ratio is that of a round, and the median of them is printed.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { CtrResult } from './ctr.js';
import { median, table } from './harness.js';
import { takeTurns } from './rounds.js';

const CTR = fileURLToPath(new URL('./ctr.js', import.meta.url));
const LIMIT_MS = 600_000;

export interface FeedsOptions {
  readonly dir: string;
  readonly models: readonly string[];
  readonly feeds: readonly string[];
  readonly batch: number;
  readonly threads: number;
  readonly rounds: number;
}

export interface FeedsResult {
  readonly model: string;
  readonly feed: string;
  readonly examplesPerS: number;
  /** Over the speed from memory, the median of the rounds, and the least and most of them. */
  readonly ratio: number;
  readonly ratioMin: number;
  readonly ratioMax: number;
  /** CPU time of an example from memory over that from this feed: the ratio of speeds where every core is taken. */
  readonly cpuRatio: number;
  readonly peakRssMb: number;
  readonly auc: number;
  /** What others used of one core meanwhile. */
  readonly foreignShare: number;
}

export async function runFeeds({ dir, models, feeds, batch, threads, rounds }: FeedsOptions): Promise<FeedsResult[]> {
  const found: FeedsResult[] = [];
  for (const model of models) {
    const systems = ['memory', ...feeds].map((feed) => async (): Promise<CtrResult> => {
      const args = ['--dir', dir, '--model', model, '--batch', String(batch), '--threads', String(threads)];
      const out = execFileSync(process.execPath, [CTR, ...args, '--feed', feed], {
        encoding: 'utf8',
        timeout: LIMIT_MS,
      });
      return JSON.parse(out.trim().split('\n').at(-1)!) as CtrResult;
    });
    // Tables are written by whoever asks first, which is no round.
    for (const system of systems.slice(1)) await system();
    const { values, foreignShare } = await takeTurns(systems, { rounds, roundsMax: 2 * rounds });
    const memory = values[0]!;
    for (const [index, feed] of ['memory', ...feeds].entries()) {
      const own = values[index]!;
      const ratios = own.map(({ examples_per_s: speed }, round) => speed / memory[round]!.examples_per_s);
      found.push({
        model,
        feed,
        examplesPerS: Math.round(median(own.map((result) => result.examples_per_s))),
        ratio: median(ratios),
        ratioMin: Math.min(...ratios),
        ratioMax: Math.max(...ratios),
        cpuRatio: median(own.map((one, round) => memory[round]!.cpu_us_per_example / one.cpu_us_per_example)),
        peakRssMb: Math.max(...own.map((result) => result.peak_rss_mb)),
        auc: own[0]!.auc,
        foreignShare,
      });
    }
  }
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      dir: { type: 'string' },
      models: { type: 'string', default: 'lr,deepfm' },
      feeds: { type: 'string', default: 'csv,jsonl,tfrecord' },
      batch: { type: 'string', default: '4096' },
      threads: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '5' },
      json: { type: 'boolean', default: false },
    },
  });
  const dir = values.dir ?? positionals[0];
  if (dir === undefined)
    throw new Error('usage: ctr-feeds --dir <folder of ctr-ref> [--models lr,deepfm] [--rounds n]');
  const { models, feeds, batch, threads, rounds } = values;
  const results = await runFeeds({
    dir,
    models: models.split(','),
    feeds: feeds.split(','),
    batch: Number(batch),
    threads: Number(threads),
    rounds: Number(rounds),
  });
  const lines = results.map(
    ({ model, feed, examplesPerS, ratio, ratioMin, ratioMax, peakRssMb, auc, foreignShare }) => [
      `${model}  ${feed}`,
      examplesPerS.toLocaleString('en-US'),
      `${ratio.toFixed(2)} (${ratioMin.toFixed(2)} to ${ratioMax.toFixed(2)})`,
      String(peakRssMb),
      String(auc),
      foreignShare.toFixed(2),
    ],
  );
  const head = ['', 'examples/s', 'over memory', 'MB resident', 'AUC', 'others'];
  console.log(values.json ? JSON.stringify(results, null, 2) : table(head, lines));
}
