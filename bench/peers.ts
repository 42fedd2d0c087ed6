/**
 * @file Trains ctr-ref on the systems one could take instead, in turns: `npm run bench -- peers [--models lr,ffm,deepfm
 * --batches 512,4096 --rounds 3 --threads 2 --folder <data> --others --tfjs <folder> --ours "<command>" --json
 * --quick]`.
 *
 * A peer is a script of bench/peers that ends with one JSON line. What is not installed is skipped, and said. `--ours`
 * is called as `<command> <folder> --model M --batch B --threads T`, must print the same line, and is what ratios are
 * taken with, round by round.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { REFERENCE } from './ctr-ref.js';
import { writeCtrFiles } from './ctr-ref-files.js';
import { machine, machineText, median, table } from './harness.js';

const PEERS = fileURLToPath(new URL('../../bench/peers/', import.meta.url));
const LIMIT_MS = 120_000;
/** Large blocks from the heap and not from fresh pages: PyTorch otherwise spends its time in page faults. */
const ENVIRONMENT = {
  MALLOC_MMAP_THRESHOLD_: '1073741824',
  MALLOC_TRIM_THRESHOLD_: '2147483648',
  PYTHONDONTWRITEBYTECODE: '1',
};
/** Vowpal Wabbit has no DeepFM; a hidden layer is the nearest. */
const VW_MODES: Readonly<Record<string, string>> = { deepfm: 'nn64' };

/** A program to run; it prints a result. */
export interface Peer {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly isOurs?: boolean;
}

/** Fields as the scripts print them. */
export interface PeerResult {
  readonly system: string;
  readonly model: string;
  readonly batch: number | string;
  readonly examples_per_s: number;
  readonly peak_rss_mb: number;
  readonly auc: number;
}
export interface Run extends PeerResult {
  readonly round: number;
  readonly isOurs: boolean;
}
type Outcome = { readonly result: PeerResult } | { readonly skipped: string };

/** Runs a peer to its end. A peer that is missing, fails or takes too long is skipped with the reason. */
export function runPeer({ command, args, cwd }: Peer): Outcome {
  const run = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: LIMIT_MS,
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...ENVIRONMENT },
  });
  if (run.error !== undefined) return { skipped: `${command}: ${run.error.message}` };
  const last = run.stdout.trimEnd().split('\n').at(-1) ?? '';
  if (run.status !== 0 || !last.startsWith('{')) {
    return { skipped: `${command} ended with ${run.status}: ${run.stderr.trimEnd().split('\n').at(-1)}` };
  }
  const line = JSON.parse(last) as PeerResult & { skipped?: string };
  return line.skipped === undefined ? { result: line } : { skipped: `${line.system} ${line.model}: ${line.skipped}` };
}

export interface PeerOptions {
  readonly folder: string;
  readonly models: readonly string[];
  readonly batches: readonly string[];
  readonly threads: string;
  readonly seconds: string;
  readonly others: boolean;
  readonly tfjs?: string | undefined;
  readonly ours?: string | undefined;
}

export function peersOf(options: PeerOptions): Peer[] {
  const { folder, threads, seconds } = options;
  const python = process.env.PYTHON ?? 'python3';
  const script = (name: string, ...args: string[]): Peer => ({
    command: python,
    args: [PEERS + name, folder, ...args],
  });
  const peers: Peer[] = [];
  for (const model of options.models) {
    for (const batch of options.batches) {
      const torch = (...args: string[]) =>
        script('torch_ctr.py', '--model', model, '--batch', batch, '--max-seconds', seconds, ...args);
      const [ours, ...first] = options.ours?.split(' ') ?? [];
      if (ours !== undefined) {
        const args = [...first, folder, '--model', model, '--batch', batch, '--threads', threads];
        peers.push({ command: ours, args, isOurs: true });
      }
      peers.push(torch('--threads', '1', '--procs', threads));
      peers.push(torch('--threads', threads));
      peers.push(torch('--threads', threads, '--ids', 'dict'));
      peers.push(torch('--threads', threads, '--impl', 'stock'));
      if (options.tfjs !== undefined && model === 'deepfm') {
        const args = [`${PEERS}tfjs_ctr.mjs`, folder, '--batch', batch, '--seconds', seconds];
        peers.push({ command: process.execPath, args, cwd: options.tfjs });
      }
    }
    peers.push(script('vw_ctr.py', '--mode', VW_MODES[model] ?? model, '--vw', process.env.VW ?? 'vw'));
  }
  if (options.others) {
    for (const system of ['sklearn-sgd', 'liblinear', 'xgboost']) {
      peers.push(script('other_ctr.py', '--system', system, '--threads', threads));
    }
  }
  return peers;
}

export interface PeerSummary extends PeerResult {
  readonly runs: number;
  /** Our speed over this one's in the same round, by our batch; empty for ourselves. */
  readonly oursOver: Readonly<Record<string, number>>;
}

const taskOf = (model: string): string => (model === 'nn64' ? 'deepfm' : model);

/** Medians per system, model and batch. A system that takes one example at a time is compared with all our batches. */
export function summarize(runs: readonly Run[]): PeerSummary[] {
  const groups = new Map<string, Run[]>();
  for (const run of runs) {
    const key = `${run.system}|${run.model}|${run.batch}`;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()].map((group) => {
    const [{ system, model, batch, isOurs }] = group as [Run];
    const ratios = new Map<string, number[]>();
    for (const one of isOurs ? [] : group) {
      for (const our of runs) {
        if (!our.isOurs || our.round !== one.round || taskOf(our.model) !== taskOf(model)) continue;
        if (batch !== 1 && batch !== our.batch) continue;
        const found = ratios.get(String(our.batch)) ?? [];
        ratios.set(String(our.batch), [...found, our.examples_per_s / one.examples_per_s]);
      }
    }
    return {
      system,
      model,
      batch,
      runs: group.length,
      examples_per_s: median(group.map((one) => one.examples_per_s)),
      peak_rss_mb: Math.max(...group.map((one) => one.peak_rss_mb)),
      auc: median(group.map((one) => one.auc)),
      oursOver: Object.fromEntries([...ratios].map(([ourBatch, all]) => [ourBatch, median(all)])),
    };
  });
}

function text(summaries: readonly PeerSummary[]): string {
  const rows = summaries.map(({ system, model, batch, runs, examples_per_s, peak_rss_mb, auc, oursOver }) => [
    ...[
      system,
      model,
      String(batch),
      String(runs),
      String(Math.round(examples_per_s)),
      String(peak_rss_mb),
      String(auc),
    ],
    Object.entries(oursOver)
      .map(([ourBatch, ratio]) => `${ratio.toFixed(2)} at ${ourBatch}`)
      .join(', '),
  ]);
  const head = ['system', 'model', 'batch', 'runs', 'examples/s', 'RSS MB', 'AUC', 'ours over this'];
  return `${machineText(machine())}\n\n${table(head, rows)}`;
}

function main(): void {
  const { values } = parseArgs({
    options: {
      models: { type: 'string', default: 'lr,ffm,deepfm' },
      batches: { type: 'string', default: '512,4096' },
      rounds: { type: 'string', default: '3' },
      threads: { type: 'string', default: '2' },
      folder: { type: 'string' },
      others: { type: 'boolean', default: false },
      tfjs: { type: 'string' },
      ours: { type: 'string' },
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
    },
  });
  const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'ctr-ref-'));
  try {
    if (!existsSync(join(folder, 'meta.json'))) {
      const size = values.quick ? { train: 16_384, test: 4096 } : REFERENCE;
      writeCtrFiles({ folder, train: size.train, test: size.test, seed: REFERENCE.seed, text: true });
    }
    const { threads, others, tfjs, ours } = values;
    const [models, batches] = [values.models.split(','), values.batches.split(',')];
    const peers = peersOf({ folder, models, batches, threads, seconds: values.quick ? '8' : '20', others, tfjs, ours });
    const runs: Run[] = [];
    for (let round = 0; round < (values.quick ? 1 : Number(values.rounds)); round++) {
      for (const peer of round % 2 === 0 ? peers : peers.toReversed()) {
        const outcome = runPeer(peer);
        if ('skipped' in outcome) console.error(`SKIPPED ${outcome.skipped}`);
        else runs.push({ ...outcome.result, round, isOurs: peer.isOurs ?? false });
      }
    }
    const summaries = summarize(runs);
    console.log(values.json ? JSON.stringify({ ...machine(), runs, summaries }, null, 2) : text(summaries));
  } finally {
    if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
