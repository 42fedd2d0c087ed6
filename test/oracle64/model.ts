/** @file A recipe made into ops of a graph: a loss, its gradients, a train op, and what there is to compare. */
import { gradients } from '../../src/graph/gradients.js';
import type { Graph, Op, Tensor } from '../../src/graph/graph.js';
import * as ml from '../../src/index.js';
import type { Optimizer } from '../../src/optim/optimizer.js';
import { type Batch, drawBatch, LABEL_FEEDS, RAGGED_MAX } from './batches.js';
import { exact } from './bounded.js';
import { INNER_BUILDERS } from './builders-inner.js';
import { LOSS_BUILDERS } from './builders-losses.js';
import { type Builders, ROW_BUILDERS } from './builders-rows.js';
import { Evaluation } from './evaluation.js';
import { Random } from './random.js';
import { FLOAT_FEEDS, ID_FEEDS, RAGGED_FEEDS, type Recipe } from './recipe.js';
import { RULES } from './rules.js';
import { makeOptimizer, makeTable, makeTrain, type TableModel } from './training.js';
import { Workshop } from './workshop.js';

export const BUILDERS: Builders = { ...ROW_BUILDERS, ...INNER_BUILDERS };
export { LOSS_BUILDERS };

export interface LookupModel {
  readonly tensor: Tensor;
  readonly table: TableModel;
  /** Whether its gradient steps rows. */
  readonly trained: boolean;
}

export interface Model {
  readonly recipe: Recipe;
  readonly batches: readonly Batch[];
  readonly loss: Tensor;
  /** What is differentiated, and the seeds of it. */
  readonly ys: readonly Tensor[];
  readonly seeds: readonly (Tensor | undefined)[];
  readonly targets: readonly Tensor[];
  readonly gradients: readonly (Tensor | undefined)[];
  /** Further tensors whose values are compared. */
  readonly watched: readonly Tensor[];
  readonly tables: readonly TableModel[];
  readonly lookups: readonly LookupModel[];
  /** Variables that are stepped. */
  readonly variables: readonly Tensor[];
  readonly optimizer: Optimizer;
  readonly updates: readonly Op[];
  readonly train: Op;
}

/** The placeholders that all graphs of a session share. */
export function makeFeeds(graph: Graph): Record<string, Tensor> {
  const feeds: Record<string, Tensor> = {};
  for (const [name, width] of Object.entries(FLOAT_FEEDS)) feeds[name] = ml.ops.placeholder(graph, { name, width });
  for (const name of LABEL_FEEDS) feeds[name] = ml.ops.placeholder(graph, { name });
  for (const [name, width] of Object.entries(ID_FEEDS)) feeds[name] = ml.ops.idsPlaceholder(graph, { name, width });
  feeds.tiny = ml.ops.idsPlaceholder(graph, { name: 'tiny', width: 2 });
  for (const name of RAGGED_FEEDS) feeds[name] = ml.ops.raggedPlaceholder(graph, { name, valuesPerRow: RAGGED_MAX });
  ml.ops.globalStep(graph);
  return feeds;
}

/** First values of a variable: asked for once, as a session does. */
export function initialOf(graph: Graph, name: string, known: Map<string, Float32Array>): Float32Array {
  const values = known.get(name) ?? (graph.op(name).attrs as { initial(): Float32Array }).initial();
  known.set(name, values);
  return values;
}

/** The first batch before any step: what builders look at. */
function probe(graph: Graph, { rows, values }: Batch, tables: readonly TableModel[]): Evaluation {
  const initials = new Map<string, Float32Array>();
  const world = {
    ...{ rows, feeds: values, training: false, globalStep: 0, seed: 0 },
    variable: (name: string) => Array.from(initialOf(graph, name, initials), exact),
    row: (table: string, id: bigint) => {
      const row = tables.find(({ config }) => config.name === table)?.assigned.get(id);
      return row && Array.from(row, exact);
    },
  };
  return new Evaluation(RULES, world, []);
}

/** The lookups of a recipe, in the hands of the workshop. */
function makeLookups(recipe: Recipe, shop: Workshop, tables: readonly TableModel[]) {
  return recipe.lookups.map(({ table: index, feed, pooling, use }) => {
    const table = tables[index]!;
    const [name, column] = feed.split(' ') as [string, string?];
    const whole = shop.feeds[name]!;
    const first = Number(column) % whole.columns;
    // A column of a feed, or two of them that are summed.
    const end = Math.min(whole.columns, first + (Number(column) > 4 ? 2 : 1));
    const ids = column === undefined ? whole : ml.ops.columns(whole, first, end);
    const pool = typeof pooling === 'number' ? { firstN: pooling } : pooling;
    const tensor = ml.ops.embeddingLookup(ids, table.config, { name: 'lookup', pooling: pool });
    const used = use === 'stopped' ? ml.ops.stopGradient(tensor) : tensor;
    shop.tensors.push(used);
    if (column !== undefined && use !== 'stopped') shop.singles.push(used);
    if (typeof pooling === 'number') shop.sequences.push({ ids: whole, tensor: used, n: pooling });
    return { tensor, table, use };
  });
}

/** Scalars of the tensors that nothing else uses, so that the loss depends on them all. */
function makeLosses(recipe: Recipe, shop: Workshop): Tensor[] {
  const used = new Set(shop.graph.ops.flatMap(({ inputs }) => inputs));
  const ends = shop.tensors.filter((tensor) => !used.has(tensor)).slice(-6);
  const sources = ends.length > 0 ? ends : [shop.tensors.at(-1)!];
  const parts = sources.map((tensor, index) => {
    const { kind, seed } = recipe.losses[index % recipe.losses.length]!;
    const made = shop.with(seed + index, () => LOSS_BUILDERS[kind]!(shop, tensor));
    return shop.isFit(made) ? made : ml.ops.reduceMean(ml.ops.tanh(tensor));
  });
  return [...parts, ...shop.shared];
}

/** Everything a recipe says up to the loss. */
function buildGraph(graph: Graph, feeds: Readonly<Record<string, Tensor>>, recipe: Recipe, random: Random) {
  const batches = recipe.rows.map((rows) => drawBatch(random, rows));
  const tables = recipe.tables.map((segments, i) => makeTable(`${graph.scope}/table${i}`, segments, random));
  const shop = new Workshop(graph, feeds, probe(graph, batches[0]!, tables));
  const own = Object.keys(FLOAT_FEEDS).filter(() => random.chance(0.7));
  for (const name of own.length > 0 ? own : ['b']) shop.tensors.push(feeds[name]!);
  const lookups = makeLookups(recipe, shop, tables);
  for (const { kind, seed } of recipe.steps) shop.build(seed, BUILDERS[kind]!);
  return { batches, tables, lookups, made: shop.tensors, parts: makeLosses(recipe, shop) };
}

/** What of a collection `body` adds. */
function added<T, R>(graph: Graph, name: string, body: () => R): readonly [R, readonly T[]] {
  const before = graph.getCollection(name).length;
  const result = body();
  return [result, graph.getCollection<T>(name).slice(before)];
}

export function makeModel(graph: Graph, feeds: Readonly<Record<string, Tensor>>, recipe: Recipe, scope: string): Model {
  return graph.nameScope(scope, () => {
    const random = new Random(recipe.seed ^ 0x1234567);
    const [[built, updates], variables] = added<Tensor, readonly [ReturnType<typeof buildGraph>, readonly Op[]]>(
      graph,
      ml.graphs.VARIABLES,
      () =>
        added<Op, ReturnType<typeof buildGraph>>(graph, ml.graphs.UPDATE_OPS, () =>
          buildGraph(graph, feeds, recipe, random),
        ),
    );
    const { batches, tables, lookups, parts } = built;
    const loss = parts.reduce((a, b) => ml.ops.add(a, b));
    const trainable = variables.filter(({ op }) => (op.attrs as { trainable: boolean }).trainable);
    const made = built.made.filter(({ op }) => op.type !== 'Placeholder');
    const inner = made.filter(() => random.chance(0.3)).slice(0, 4);
    const floats = Object.keys(FLOAT_FEEDS).map((name) => feeds[name]!);
    const targets = [...new Set([...trainable, ...lookups.map(({ tensor }) => tensor), ...floats, ...inner])];
    // The gradient of a sum is that of its parts, and what brings a seed need be no scalar.
    const ys = recipe.seed % 3 === 0 ? [...parts] : [loss];
    const seeds: (Tensor | undefined)[] = ys.map(() => undefined);
    const extra = recipe.seed % 5 === 0 ? inner.at(-1) : undefined;
    if (extra !== undefined) {
      ys.push(extra);
      seeds.push(ml.ops.stopGradient(ml.ops.tanh(extra)));
    }
    const grads = gradients(ys, targets, { gradYs: seeds });
    const pairsOf = (tensors: readonly Tensor[]) =>
      tensors.flatMap((tensor) => {
        const gradient = grads[targets.indexOf(tensor)];
        return gradient === undefined ? [] : [[gradient, tensor] as const];
      });
    const optimizer = makeOptimizer(recipe.dense);
    const dense = pairsOf(trainable);
    const rows = pairsOf(lookups.filter(({ use }) => use === 'trained').map(({ tensor }) => tensor));
    const stepped = new Set(rows.map(([, tensor]) => tensor));
    return {
      ...{ recipe, batches, tables, loss, ys, seeds, targets, gradients: grads, optimizer, updates },
      watched: made.filter(() => random.chance(0.2)).slice(0, 3),
      lookups: lookups.map(({ tensor, table }) => ({ tensor, table, trained: stepped.has(tensor) })),
      variables: dense.map(([, variable]) => variable),
      train: makeTrain(graph, recipe.dense, { optimizer, dense, lookups: rows, updates }),
    };
  });
}
