/** @file What a model is made of: its layers, its variables, its tables and the rows they have. */
import { inspect } from 'node:util';
import { manifestOf } from '../../checkpoint/newest-manifest.js';
import { type Graph, type Op, type OpDef, shapeText, type Tensor } from '../../graph/graph.js';
import { VARIABLES, Variable, type VariableAttrs } from '../../graph/ops/state.js';
import { ApplyGradient, type ApplyGradientAttrs } from '../../optim/apply-gradient-op.js';
import { planTable } from '../../sparse/config/table-plan.js';
import { tableSize } from '../../sparse/config/table-size.js';
import { EmbeddingLookup, type EmbeddingLookupAttrs, TABLES } from '../../sparse/steps/embedding-ops.js';
import { buildIn, type EstimatorModel } from './estimator-model.js';
import type { LayerSummary, SummaryParts, TableSummary } from './summary-parts.js';
import { summaryText } from './summary-text.js';

export class ModelSummary implements SummaryParts {
  readonly model: string;
  readonly layers: readonly LayerSummary[];
  readonly tables: readonly TableSummary[];
  /** Floats of all variables that are trained, and of those that train them. */
  readonly denseFloats: number;
  readonly optimizerFloats: number;
  /** Global step of the newest checkpoint; 0 before the first. */
  readonly step: number;

  constructor(parts: Omit<SummaryParts, 'tableRows' | 'tableBytes'>) {
    this.model = parts.model;
    this.layers = parts.layers;
    this.tables = parts.tables;
    this.denseFloats = parts.denseFloats;
    this.optimizerFloats = parts.optimizerFloats;
    this.step = parts.step;
  }

  get tableRows(): number {
    return this.tables.reduce((rows, table) => rows + table.rows, 0);
  }

  get tableBytes(): number {
    return this.tables.reduce((bytes, table) => bytes + table.bytes, 0);
  }

  /** As a table for people. */
  toString(): string {
    return summaryText(this);
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/** The summary of a model; `modelDir` says how many rows there are. */
export function summaryOf(model: EstimatorModel, modelDir: string | null): ModelSummary {
  const { graph } = buildIn(model, 'train');
  const manifest = modelDir === null ? null : manifestOf(modelDir);
  const steppedBy = optimizers(graph);
  const trained = graph.getCollection(VARIABLES).filter((tensor) => steppedBy.has(tensor.op));
  const states = graph.getCollection(VARIABLES).filter((tensor) => isStateOf(tensor, trained));
  return new ModelSummary({
    model: model.name,
    layers: [...lookups(graph), ...layers(graph, steppedBy, states)],
    tables: graph.getCollection(TABLES).map((config) => {
      const plan = planTable(config);
      const rows = manifest?.tables.find(({ name }) => name === config.name)?.rowCount ?? 0;
      const segments = plan.segments.length;
      const bytes =
        rows === 0 ? 0 : tableSize({ rows, dim: plan.dim, stateFloats: plan.stateFloats, segments }).totalBytes;
      const kinds = plan.dump.map(({ optimizer }) => String(optimizer));
      return {
        name: config.name,
        dim: plan.dim,
        optimizers: [...new Set(kinds)],
        rows,
        rowBytes: plan.rowBytes,
        bytes,
      };
    }),
    denseFloats: floatsOf(
      graph.getCollection(VARIABLES).filter((tensor) => isDense(tensor) && !states.includes(tensor)),
    ),
    optimizerFloats: floatsOf(states),
    step: manifest?.step ?? 0,
  });
}

function lookups(graph: Graph): LayerSummary[] {
  const ops = graph.ops.filter((op) => op.def === (EmbeddingLookup as OpDef<unknown>));
  return ops.map((op) => ({
    name: op.name,
    kind: (op.attrs as EmbeddingLookupAttrs).table.name,
    output: shapeText(op.output.spec.shape),
    floats: 0,
    optimizer: null,
  }));
}

/** Scopes that have variables of their own, in the order these were made. */
function layers(graph: Graph, steppedBy: ReadonlyMap<Op, string>, states: readonly Tensor[]): LayerSummary[] {
  const scopes = new Map<string, Tensor[]>();
  for (const tensor of graph.getCollection(VARIABLES)) {
    if (!isDense(tensor) || states.includes(tensor)) continue;
    const { name } = tensor.op;
    const scope = name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : name;
    scopes.set(scope, [...(scopes.get(scope) ?? []), tensor]);
  }
  return [...scopes].map(([name, variables]) => {
    const last = lastOf(graph, name, variables);
    const optimizer = variables.map(({ op }) => steppedBy.get(op)).find((found) => found !== undefined);
    return {
      name,
      kind: last.type,
      output: shapeText(last.outputs[0]?.spec.shape ?? []),
      floats: floatsOf(variables),
      optimizer: optimizer ?? null,
    };
  });
}

/** The op that gives what the layer makes: the last one in its scope, or the first that uses its variable. */
function lastOf(graph: Graph, scope: string, variables: readonly Tensor[]): Op {
  const inside = graph.ops.filter(
    ({ name, def }) => name.startsWith(`${scope}/`) && def !== (Variable as OpDef<unknown>),
  );
  const made = inside.filter(({ outputs, def }) => outputs.length > 0 && def !== (ApplyGradient as OpDef<unknown>));
  const users = graph.ops.filter(({ inputs }) => inputs.some((input) => variables.includes(input)));
  return made.at(-1) ?? users[0] ?? variables[0]!.op;
}

/** What steps each variable. */
function optimizers(graph: Graph): ReadonlyMap<Op, string> {
  const steps = graph.ops.filter((op) => op.def === (ApplyGradient as OpDef<unknown>));
  return new Map(steps.map((op) => [op.inputs[1]!.op, nameOf((op.attrs as ApplyGradientAttrs).optimizer)] as const));
}

/** Optimizers are called as their variables are; of others only the class is known. */
function nameOf(optimizer: object): string {
  const { name } = optimizer as { readonly name?: unknown };
  return typeof name === 'string' ? name : optimizer.constructor.name;
}

/** Whether it is what an optimizer keeps of a variable: its name goes on where that of the variable ends. */
function isStateOf(tensor: Tensor, trained: readonly Tensor[]): boolean {
  return trained.some(({ op }) => tensor.op !== op && tensor.op.name.startsWith(`${op.name}/`));
}

function isDense({ op }: Tensor): boolean {
  return (op.attrs as VariableAttrs).dtype === 'float32';
}

function floatsOf(variables: readonly Tensor[]): number {
  return variables.reduce((sum, { spec }) => sum + (spec.shape as readonly number[]).reduce((a, b) => a * b, 1), 0);
}
