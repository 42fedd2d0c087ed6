/**
 * @file What every runtime is put to: training, resuming, products, tables, and what becomes of kernels it is new to.
 */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MAIN, treeOf } from '../cli/run-cli.js';
import type { Products } from './products.js';
import type { Runtime } from './runtimes.js';

const LIMIT_MS = 120_000;
const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url));
const PRODUCTS = fileURLToPath(new URL('./products.js', import.meta.url));
/** The first versions in which vectors are joined. */
const WIDE_NODE_MIN = 24;

export interface Case {
  readonly name: string;
  /** Throws, or returns what must be the same in every runtime. */
  readonly run: (at: Place) => Promise<unknown>;
}

export class Place {
  readonly runtime: Runtime;
  /** An empty folder of this runtime. */
  readonly dir: string;

  constructor(runtime: Runtime, dir: string) {
    this.runtime = runtime;
    this.dir = dir;
    mkdirSync(dir, { recursive: true });
  }

  get major(): number {
    return Number(/\d+/.exec(this.runtime.name)?.[0]);
  }

  /** Standard output of a script that ends well. */
  async run(script: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    const { NODE_OPTIONS: _, MONOLITH_KERNELS: __, ...rest } = process.env;
    const child = spawn(this.runtime.binary, [...this.runtime.args, script, ...args], {
      cwd: this.dir,
      env: { ...rest, XDG_CACHE_HOME: join(this.dir, 'cache'), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...{ timeout: LIMIT_MS, killSignal: 'SIGKILL' as const },
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    const ended = await new Promise<string>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve(String(signal ?? code)));
    });
    equal(ended, '0', `${[script, ...args].join(' ')} ended with ${ended}: ${err.slice(-2000)}`);
    return out;
  }

  cli(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string> {
    return this.run(MAIN, args, env);
  }

  async kernelsLine(env?: Readonly<Record<string, string>>): Promise<{ level: string; found: string; todo: string }> {
    const { checks } = JSON.parse(await this.cli(['doctor', '--json'], env));
    return checks.find(({ name }: { name: string }) => name === 'kernels');
  }
}

const SMALL = ['--quiet', '--deterministic', '--vocab', '50', '--batch-size', '32', '--save-every', '50'];

const cases: readonly Case[] = [
  {
    name: 'the demo trains to the same bytes, and resumes to them on other threads',
    run: async (at) => {
      await at.cli(['train', ...SMALL, '--model-dir', 'whole', '--steps', '100', '--threads', '1']);
      const whole = timeless(treeOf(join(at.dir, 'whole')));
      for (const threads of ['2', '3']) {
        await at.cli(['train', ...SMALL, '--model-dir', 'parts', '--steps', '50', '--threads', threads]);
      }
      deepEqual(timeless(treeOf(join(at.dir, 'parts'))), whole);
      match(await at.cli(['inspect', 'whole']), /rows +\d+ in 1 file/);
      return whole;
    },
  },
  {
    name: 'the demo learns on the best kernels there are',
    run: async (at) => {
      const out = await at.cli(['train', '--quiet', '--json', '--steps', '800', '--model-dir', 'best']);
      const { step, auc } = JSON.parse(out.trim().split('\n').at(-1)!);
      equal(step, 800);
      ok(auc > 0.8, `AUC ${auc}`);
    },
  },
  {
    name: 'products are those of the reference, and fused ones the same in each build',
    run: async (at) => {
      const { best, why, digests }: Products = JSON.parse(await at.run(PRODUCTS, []));
      equal(digests.plain, digests.reference);
      if (digests.wide !== null) equal(digests.wide, digests.relaxed);
      const isWide = at.runtime.kind === 'node' && at.major >= WIDE_NODE_MIN && process.arch === 'x64';
      // On a machine without AVX2 vectors are not joined: the self-test finds the wide kernels slow.
      if (!isWide) equal(best, 'relaxed', why);
      else ok(best === 'wide' || /of the time of the relaxed/.test(why), `${best}: ${why}`);
      return digests.plain;
    },
  },
  {
    name: 'a deep model trains to the same numbers on plain kernels, and learns on the best',
    run: async (at) => {
      const model = join(EXAMPLES, 'own-model.mjs');
      const [, auc] = /held out: AUC (\S+),/.exec(await at.run(model, ['300'])) ?? [];
      ok(Number(auc) > 0.9, `AUC ${auc}`);
      return at.run(model, ['60'], { MONOLITH_KERNELS: 'plain' });
    },
  },
  {
    name: 'a table is trained, saved, restored and inspected',
    run: async (at) => {
      const out = await at.run(join(EXAMPLES, 'table.mjs'), ['60']);
      match(out, /saved (\d+) rows,.*\nrestored \1 rows/);
      return out.replace(/\/\S*monolith-table-\w+/, '');
    },
  },
];

/** Of versions of Node.js whose wide kernels have to be probed. */
const probed: readonly Case[] = [
  {
    name: 'the wide kernels were probed, which is remembered, and where it cannot be they are not taken',
    run: async (at) => {
      equal(readdirSync(join(at.dir, 'cache', 'monolith-ts')).length, 1);
      const line = await at.kernelsLine({ XDG_CACHE_HOME: MAIN });
      equal(line.level, 'warn');
      match(line.found, /^relaxed \(not wide: .*cannot be remembered/);
      match(line.todo, /XDG_CACHE_HOME/);
      if (!/^wide/.test((await at.kernelsLine()).found)) return; // slow on this machine
      match((await at.kernelsLine({ XDG_CACHE_HOME: MAIN, MONOLITH_KERNELS: 'wide' })).found, /^wide/);
    },
  },
];

/** The cases of a runtime, in the order they run in. */
export function casesOf({ runtime, major }: Place): readonly Case[] {
  const isProbed = runtime.kind === 'node' && major > WIDE_NODE_MIN && process.arch === 'x64';
  return isProbed ? [...cases, ...probed] : cases;
}

/** Files without the one that holds when it was written. */
function timeless<T>({ monolith_checkpoint: _, ...files }: Readonly<Record<string, T>>): Record<string, T> {
  return files;
}
