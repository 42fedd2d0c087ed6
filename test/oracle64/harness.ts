/** @file Runs random graphs in groups that share sessions, and makes a failing one as small as it gets. */
import { Graph } from '../../src/graph/graph.js';
import type { Session, SessionOptions } from '../../src/index.js';
import { openSession } from '../runtime/with-session.js';
import { compareModel, type Tally } from './compare.js';
import { type Expected, Oracle } from './expectations.js';
import { BUILDERS, LOSS_BUILDERS, type Model, makeFeeds, makeModel } from './model.js';
import { BATCH_MAX, describe, drawRecipe, type Recipe, smaller } from './recipe.js';

export type Arrangement = Pick<SessionOptions, 'deterministic' | 'tableBytes' | 'bankBytes'> & {
  readonly backend: 'wasm' | 'reference';
  readonly threads: number;
};

export const ARRANGEMENTS: readonly Arrangement[] = [
  { backend: 'wasm', threads: 1 },
  { backend: 'wasm', threads: 2 },
  { backend: 'reference', threads: 2 },
];
/** For long runs: more slices than examples, an odd number of threads, tables in memories of their own. */
export const FURTHER: readonly Arrangement[] = [
  { backend: 'wasm', threads: 3, deterministic: true },
  { backend: 'wasm', threads: 2, tableBytes: 64 << 20, bankBytes: 16 << 20 },
  { backend: 'reference', threads: 1, tableBytes: 64 << 20, bankBytes: 16 << 20 },
];

const MEMORY_BYTES = 512 << 20;
/** Sessions of one failing graph that are tried to make it smaller. */
const TRIES = 60;

export interface Failure {
  readonly recipe: Recipe;
  readonly arrangement: Arrangement;
  readonly wrong: readonly string[];
}

export interface Report {
  readonly failures: readonly Failure[];
  readonly tally: Tally;
  /** Types of the ops that were in the graphs. */
  readonly types: ReadonlySet<string>;
}

export const recipeOf = (seed: number): Recipe => drawRecipe(seed, Object.keys(BUILDERS), Object.keys(LOSS_BUILDERS));

/** Runs recipes in sessions they share; the graph of each is apart from the others. */
export async function runRecipes(recipes: readonly Recipe[], arrangements = ARRANGEMENTS): Promise<Report> {
  const graph = new Graph();
  const feeds = makeFeeds(graph);
  const models = recipes.map((recipe, index) => makeModel(graph, feeds, recipe, `g${index}`));
  const expected = models.map((model) => new Oracle(graph, model).run());
  const tally: Tally = { numbers: 0, telling: 0 };
  const failures: Failure[] = [];
  for (const arrangement of arrangements) {
    failures.push(...(await runIn(arrangement, graph, models, expected, tally)));
  }
  return { failures, tally, types: new Set(graph.ops.map(({ type }) => type)) };
}

async function runIn(
  arrangement: Arrangement,
  graph: Graph,
  models: readonly Model[],
  expected: readonly Expected[],
  tally: Tally,
) {
  const failures: Failure[] = [];
  const open = () => openSession(graph, { ...arrangement, batchSize: BATCH_MAX, memoryBytes: MEMORY_BYTES });
  let session: Session | undefined;
  try {
    for (const [index, model] of models.entries()) {
      session ??= await open();
      const wrong = await compareModel(session, model, expected[index]!, tally).catch((error: Error) => [
        `it failed: ${error.message}\n${error.stack ?? ''}`,
      ]);
      if (wrong.length === 0) continue;
      failures.push({ recipe: model.recipe, arrangement, wrong });
      // A step that failed ends its session: the next graph gets another.
      if (wrong[0]!.startsWith('it failed')) {
        await session.close();
        session = undefined;
      }
    }
  } finally {
    await session?.close();
  }
  return failures;
}

/** The smallest recipe found that still fails there. */
export async function shrink(failure: Failure): Promise<Failure> {
  let best = failure;
  let tries = 0;
  for (let found = true; found; ) {
    found = false;
    for (const recipe of smaller(best.recipe)) {
      if (tries++ >= TRIES) return best;
      const { failures } = await runRecipes([recipe], [best.arrangement]).catch(() => ({ failures: [] }));
      if (failures.length === 0) continue;
      best = failures[0]!;
      found = true;
      break;
    }
  }
  return best;
}

export function explain({ recipe, arrangement, wrong }: Failure): string {
  const smaller = `MONOLITH_ORACLE_RECIPE='${JSON.stringify(recipe)}'`;
  const replay = `MONOLITH_ORACLE_SEED=${recipe.seed}, made smaller: ${smaller}`;
  return [describe(recipe), ...wrong.slice(0, 12), `in ${JSON.stringify(arrangement)}; replay ${replay}`].join('\n');
}
