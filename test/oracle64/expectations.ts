/** @file What a model must give: its evaluation, and the state after each step of training, by the oracle alone. */
import type { Graph, Tensor } from '../../src/graph/graph.js';
import type { Batch } from './batches.js';
import { add, type Bounded, choose, div, exact, less, mul, rounded, sqrt, square, sumOf } from './bounded.js';
import { DENSE_RULES } from './dense-optimizers.js';
import { Evaluation, type World } from './evaluation.js';
import { initialOf, type Model } from './model.js';
import { ROW_RULES } from './row-optimizers.js';
import { RULES } from './rules.js';
import type { Adjoints } from './tape.js';
import { CLIP, rateAt, type TableModel } from './training.js';

type Vector = readonly Bounded[];

export interface RowState {
  readonly weights: Vector;
  /** Of each segment, in the order of memory. */
  readonly states: readonly Vector[];
}

export interface Expected {
  /** Loss, watched tensors and gradients of the first batch, by what they are. */
  readonly evaluation: ReadonlyMap<string, { readonly tensor: Tensor; readonly values: Vector }>;
  /** Targets that have no gradient and for which the oracle finds one. */
  readonly missing: readonly string[];
  /** Loss of each step of training, and the gradients where they are fetched. */
  readonly steps: readonly ReadonlyMap<string, { readonly tensor: Tensor; readonly values: Vector }>[];
  readonly variables: ReadonlyMap<string, Vector>;
  readonly tables: ReadonlyMap<TableModel, ReadonlyMap<bigint, RowState>>;
}

export class Oracle {
  readonly #graph: Graph;
  readonly #model: Model;
  readonly #variables = new Map<string, Vector>();
  readonly #tables = new Map<TableModel, Map<bigint, RowState>>();
  readonly #initials = new Map<string, Float32Array>();

  constructor(graph: Graph, model: Model) {
    this.#graph = graph;
    this.#model = model;
    for (const table of model.tables) {
      const rows = new Map<bigint, RowState>();
      for (const [id, weights] of table.assigned) {
        rows.set(id, { weights: Array.from(weights, exact), states: freshStates(table) });
      }
      this.#tables.set(table, rows);
    }
  }

  run(): Expected {
    const model = this.#model;
    const first = this.#evaluate(model.batches[0]!, false, 0);
    const adjoints = first.backward(model.ys, model.seeds);
    const missing: string[] = [];
    const evaluation = this.#values(first, adjoints, true, missing);
    const steps = model.batches.slice(1).map((batch, step) => this.#step(batch, step));
    return { evaluation, missing, steps, variables: this.#variables, tables: this.#tables };
  }

  #values(evaluation: Evaluation, adjoints: Adjoints, all: boolean, missing: string[]) {
    const { loss, watched, targets, gradients } = this.#model;
    const found = new Map([['loss', { tensor: loss, values: evaluation.values(loss) }]]);
    if (!all) return found;
    watched.forEach((tensor, i) => {
      found.set(`tensor ${i} (${tensor.name})`, { tensor, values: evaluation.values(tensor) });
    });
    targets.forEach((target, i) => {
      const tensor = gradients[i];
      if (tensor !== undefined) {
        found.set(`gradient of ${target.name} (${target.op.type})`, {
          tensor,
          values: adjointsOf(evaluation, adjoints, target),
        });
      } else if (evaluation.world.feeds.has(target.op.name) || target.op.type !== 'Placeholder') {
        const own = adjointsOf(evaluation, adjoints, target);
        if (own.some(({ v, e }) => Math.abs(v) > e)) missing.push(target.name);
      }
    });
    return found;
  }

  #variable(name: string): Vector {
    let values = this.#variables.get(name);
    if (values === undefined) {
      values = Array.from(initialOf(this.#graph, name, this.#initials), exact);
      this.#variables.set(name, values);
    }
    return values;
  }

  #evaluate({ rows, values }: Batch, training: boolean, globalStep: number): Evaluation {
    const world: World = {
      rows,
      feeds: values,
      training,
      globalStep,
      seed: 0,
      variable: (name) => this.#variable(name),
      row: (name, id) => {
        const table = this.#model.tables.find(({ config }) => config.name === name)!;
        return this.#tables.get(table)!.get(id)?.weights;
      },
    };
    return new Evaluation(RULES, world, this.#model.targets);
  }

  #step(batch: Batch, step: number) {
    const model = this.#model;
    const evaluation = this.#evaluate(batch, true, step);
    const adjoints = evaluation.backward(model.ys, model.seeds);
    const values = this.#values(evaluation, adjoints, model.recipe.fetches, []);
    // All updates see the values from before: they are computed first and put in place together.
    const dense = model.variables.map((variable) => adjointsOf(evaluation, adjoints, variable));
    const trained = model.lookups.filter(({ trained }) => trained);
    const rows = trained.map(({ tensor }) => adjointsOf(evaluation, adjoints, tensor));
    const factors = clipFactors(model, dense, rows);
    const assigned = model.updates.map((op) => {
      const [value, target] = op.inputs as [Tensor, Tensor];
      return [target.op.name, evaluation.values(value)] as const;
    });
    const stepped = model.variables.flatMap((variable, i) => {
      const grads = dense[i]!.map((grad) => clip(model, grad, factors[i]!));
      return this.#denseStep(variable, grads, step);
    });
    this.#stepTables(evaluation, adjoints, factors[model.variables.length] ?? exact(1), step);
    for (const [name, next] of [...assigned, ...stepped]) this.#variables.set(name, next);
    return values;
  }

  /** The variable and its slots after a step. */
  #denseStep(variable: Tensor, grads: Vector, step: number): (readonly [string, Vector])[] {
    const { optimizer, recipe } = this.#model;
    const { rule: name, options, weightDecay, rate } = recipe.dense;
    const rule = DENSE_RULES[name]!(options);
    // The rate of a table's config is its own.
    const eta = rounded(rateAt(name.startsWith('rows') ? 'fixed' : rate, step));
    const slots = rule.slots.map((slot) => optimizer.getSlot(variable, slot)!.op.name);
    const before = this.#variable(variable.op.name);
    const states = slots.map((slot) => this.#variable(slot));
    const next = before.map((w, i) => {
      const g = weightDecay === 0 ? grads[i]! : add(grads[i]!, mul(rounded(weightDecay), w));
      return rule.step({ w, slots: states.map((state) => state[i]!), g, eta, steps: step });
    });
    return [variable.op.name, ...slots].map((slot, k) => [slot, next.map((one) => one[k]!)] as const);
  }

  /** Sums the gradients of each id over the trained lookups of its table, and steps its row once. */
  #stepTables(evaluation: Evaluation, adjoints: Adjoints, factor: Bounded, step: number): void {
    const sums = new Map<TableModel, Map<bigint, Bounded[][]>>();
    for (const { tensor, table, trained } of this.#model.lookups) {
      if (!trained) continue;
      const ofTable = sums.get(table) ?? new Map<bigint, Bounded[][]>();
      sums.set(table, ofTable);
      for (const [id, nodes] of evaluation.rowsRead(tensor.op)) {
        const terms = ofTable.get(id) ?? [];
        ofTable.set(id, terms);
        terms.push(Array.from(nodes, (node) => mul(adjoints.of(node), factor)));
      }
    }
    for (const [table, byId] of sums) {
      const rows = this.#tables.get(table)!;
      for (const [id, terms] of byId) {
        const gradient = terms[0]!.map((_, c) => sumOf(terms.map((term) => term[c]!)));
        const row = rows.get(id) ?? { weights: firstWeights(table), states: freshStates(table) };
        rows.set(id, stepRow(table, row, gradient, step));
      }
    }
  }
}

function adjointsOf(evaluation: Evaluation, adjoints: Adjoints, tensor: Tensor): Bounded[] {
  return Array.from(evaluation.nodes(tensor).ids, (id) => adjoints.of(id));
}

const freshStates = ({ segments }: TableModel): Vector[] =>
  segments.map(({ dim, optimizer, options }) => ROW_RULES[optimizer]!(options).initial(dim));
const firstWeights = ({ segments }: TableModel): Bounded[] =>
  segments.flatMap(({ dim, initial }) => new Array<Bounded>(dim).fill(exact(initial)));

function stepRow({ segments }: TableModel, row: RowState, gradient: Vector, globalStep: number): RowState {
  let start = 0;
  const parts = segments.map(({ dim, optimizer, options, rate }, i) => {
    const cut = (vector: Vector) => vector.slice(start, start + dim);
    const [w, g] = [cut(row.weights), cut(gradient)];
    start += dim;
    const rule = ROW_RULES[optimizer]!({ ...options, learningRate: rateAt('fixed', 0) });
    return rule.step({ w, g, state: row.states[i]!, eta: rounded(rateAt(rate, globalStep)), globalStep });
  });
  return { weights: parts.flatMap(({ w }) => w), states: parts.map(({ state }) => state) };
}

const normOf = (list: Vector): Bounded => (list.length === 0 ? exact(0) : sqrt(sumOf(list.map(square))));
/** clip / norm where the norm is larger, else 1. */
function shrinkage(norm: Bounded, to: number): Bounded {
  const limit = rounded(to);
  return choose(less(limit, norm), norm.v === 0 ? exact(1) : div(limit, norm), exact(1));
}

/** A factor for each variable, then one for rows. */
function clipFactors(model: Model, dense: readonly Vector[], rows: readonly Vector[]): Bounded[] {
  const { clip } = model.recipe.dense;
  const ones = dense.map(() => exact(1));
  if (clip === 'norm') return [...dense.map((grad) => shrinkage(normOf(grad), CLIP.norm)), exact(1)];
  if (clip === 'global') return [...dense.map(() => shrinkage(normOf(dense.flat()), CLIP.global)), exact(1)];
  if (clip !== 'global with rows') return [...ones, exact(1)];
  const factor = shrinkage(normOf([...dense, ...rows].flat()), CLIP.global);
  return [...dense.map(() => factor), factor];
}

function clip(model: Model, grad: Bounded, factor: Bounded): Bounded {
  if (model.recipe.dense.clip !== 'value') return factor.v === 1 && factor.e === 0 ? grad : mul(grad, factor);
  const limit = rounded(CLIP.value).v;
  return { v: Math.min(Math.max(grad.v, -limit), limit), e: grad.e + rounded(CLIP.value).e };
}
