/**
 * @file What defaults reach on real data: `npm run bench -- quality --data DIR [--quick --json]`.
 *
 * DeepFM with the defaults of the package against the best of a grid of rates, on MovieLens (ml-latest-small, likes
 * from 3.5 up, a tenth of the rows held out at random) and Adult (its own test set). `DIR` has the folders
 * `ml-latest-small`, with `ratings.csv` and `movies.csv`, and `adult`, with `adult.data` and `adult.test`; each file
 * may end in `.gz`, and what is not there is left out.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as ml from '../src/index.js';
import { benchMain, type Machine, machine, machineText, median, table } from './harness.js';

const { f, Dataset, Estimator, zoo, optim, sparse, defineSchema } = ml;

type Rows = readonly Record<string, unknown>[];
interface Case {
  readonly name: string;
  readonly schema: ml.Schema<ml.Features>;
  readonly epochs: number;
  rows(seed: number): { readonly train: Rows; readonly test: Rows };
}

export interface Quality {
  readonly name: string;
  readonly epochs: number;
  /** AUC of each seed. */
  readonly auc: readonly number[];
  readonly best: number;
  /** Rates of the best: of rows, of variables. */
  readonly rates: readonly [number, number];
}

export interface QualityReport extends Machine {
  readonly results: readonly Quality[];
}

const ROW_RATES = [0.02, 0.05, 0.1];
const DENSE_RATES = [0.02, 0.05, 0.1];

export async function runQualityBench({ quick = false }: { quick?: boolean } = {}): Promise<QualityReport> {
  const at = process.argv.indexOf('--data');
  const dir = at < 0 ? undefined : process.argv[at + 1];
  const cases = dir === undefined ? [madeUp()] : [await movieLens(dir), await adult(dir)];
  const results: Quality[] = [];
  for (const one of cases) if (one !== undefined) results.push(await qualityOf(one, quick));
  return { ...machine(), results };
}

async function qualityOf(one: Case, quick: boolean): Promise<Quality> {
  const auc: number[] = [];
  for (let seed = 1; seed <= (quick ? 1 : 5); seed++) auc.push(await aucOf(one, seed, {}));
  let found = { auc: auc[0]!, rates: [0.05, 0.05] as readonly [number, number] };
  for (const row of quick ? [] : ROW_RATES) {
    for (const dense of DENSE_RATES) {
      const rowOptimizer = sparse.adagrad({ learningRate: row, initialAccumulatorValue: 1e-6 });
      const optimizer = optim.adagrad({ learningRate: dense, initialAccumulatorValue: 1e-6 });
      const value = await aucOf(one, 1, { optimizer, rowOptimizer });
      if (value > found.auc) found = { auc: value, rates: [row, dense] };
    }
  }
  return { name: one.name, epochs: one.epochs, auc, best: found.auc, rates: found.rates };
}

async function aucOf({ schema, epochs, rows }: Case, seed: number, options: object): Promise<number> {
  const { train, test } = rows(seed);
  const estimator = new Estimator(zoo.deepfm(schema, options), { seed, threads: 1 });
  try {
    await estimator.train(train as never, { epochs, batchSize: 256 });
    const { metrics } = await estimator.evaluate(test as never, { batchSize: 1024 });
    return metrics.auc ?? Number.NaN;
  } finally {
    await estimator.close();
  }
}

/** The file or the same with `.gz`; undefined where neither is. */
function fileIn(dir: string, name: string): string | undefined {
  return [join(dir, name), join(dir, `${name}.gz`)].find((file) => existsSync(file));
}

async function movieLens(dir: string): Promise<Case | undefined> {
  const [ratings, movies] = [fileIn(dir, 'ml-latest-small/ratings.csv'), fileIn(dir, 'ml-latest-small/movies.csv')];
  if (ratings === undefined || movies === undefined) return undefined;
  const all: Record<string, unknown>[] = [];
  for await (const row of Dataset.from(ratings).with(movies, { key: 'movieId' })) all.push({ ...row });
  const schema = defineSchema({
    userId: f.id(),
    movieId: f.id(),
    genres: f.ids({ split: '|' }),
    like: f.label({ from: 'rating', rule: '>=3.5' }),
  });
  return { name: 'MovieLens', schema: schema as never, epochs: 2, rows: (seed) => heldOut(all, seed) };
}

const ADULT =
  'age,workclass,fnlwgt,education,educationNum,marital,occupation,relationship,race,sex,gain,loss,hours,country,income';

async function adult(dir: string): Promise<Case | undefined> {
  const files = [fileIn(dir, 'adult/adult.data'), fileIn(dir, 'adult/adult.test')];
  if (files.includes(undefined)) return undefined;
  const columns = ADULT.split(',');
  const [train, test] = await Promise.all(
    files.map(async (file) => {
      const rows: Record<string, unknown>[] = [];
      for await (const row of Dataset.from(file!, { columns, header: false })) {
        const cells = Object.entries(row).map(([name, cell]) => [name, String(cell).trim()]);
        const trimmed = Object.fromEntries(cells) as Record<string, string>;
        if (trimmed.income !== undefined) rows.push({ ...trimmed, rich: trimmed.income.startsWith('>') ? 1 : 0 });
      }
      return rows;
    }),
  );
  const schema = defineSchema({
    ...Object.fromEntries(['age', 'educationNum', 'hours'].map((name) => [name, f.number()])),
    ...Object.fromEntries(['gain', 'loss'].map((name) => [name, f.number({ map: Math.log1p })])),
    ...Object.fromEntries(
      ['workclass', 'education', 'marital', 'occupation', 'relationship', 'race', 'sex', 'country'].map((name) => [
        name,
        f.id(),
      ]),
    ),
    rich: f.label(),
  });
  const whole = { train: train!, test: test! };
  return {
    name: 'Adult',
    schema: schema as never,
    epochs: 3,
    rows: (seed) => ({ ...whole, train: mixed(train!, seed) }),
  };
}

/** Without a folder of data: users who like the items of their kind, to see that the bench runs. */
function madeUp(): Case {
  const all = Array.from({ length: 2000 }, (_, i) => {
    const [user, item] = [(i * 7) % 40, (i * 13 + (i >> 4)) % 60];
    return { user, item, like: (user + item) % 2 };
  });
  const schema = defineSchema({ user: f.id(), item: f.id(), like: f.label() });
  return { name: 'made up', schema: schema as never, epochs: 2, rows: (seed) => heldOut(all, seed) };
}

function heldOut(all: Rows, seed: number): { readonly train: Rows; readonly test: Rows } {
  const rows = mixed(all, seed);
  const count = Math.floor(rows.length / 10);
  return { train: rows.slice(count), test: rows.slice(0, count) };
}

/** The rows in an order that the seed decides. */
function mixed(rows: Rows, seed: number): Rows {
  const list = [...rows];
  let state = seed >>> 0;
  const next = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let i = list.length - 1; i > 0; i--) {
    const j = next(i + 1);
    [list[i], list[j]] = [list[j]!, list[i]!];
  }
  return list;
}

await benchMain(import.meta.url, runQualityBench, (report) => {
  const rows = report.results.map(({ name, epochs, auc, best, rates }) => [
    name,
    String(epochs),
    median(auc).toFixed(4),
    `${Math.min(...auc).toFixed(4)} to ${Math.max(...auc).toFixed(4)}`,
    best.toFixed(4),
    rates.join(', '),
  ]);
  const head = ['data', 'epochs', 'AUC of defaults', 'over seeds', 'best of a grid', 'rates of rows, variables'];
  return `${machineText(report)}\n${table(head, rows)}`;
});
