/** @file A trained model written for another system: op by op, through the operations that all of them have. */
import { MonolithError } from '../../base/errors.js';
import type { Op, Tensor } from '../../graph/graph.js';
import { Cast } from '../../graph/ops/cast.js';
import { Columns, type ColumnsAttrs } from '../../graph/ops/columns.js';
import { SequenceMask } from '../../graph/ops/sequence.js';
import { Constant, type ConstantAttrs, Placeholder, Variable, type VariableAttrs } from '../../graph/ops/state.js';
import { readGraph } from '../../portable/read-graph.js';
import { EmbeddingLookup, type EmbeddingLookupAttrs } from '../../sparse/steps/embedding-ops.js';
import type { ExportableModel } from '../trained-model.js';
import type { Rule, RuleContext } from './rule.js';
import { ELEMENTWISE_RULES } from './rules/elementwise.js';
import { INNER_RULES } from './rules/inner.js';
import { ROW_RULES } from './rules/rows.js';
import { type Feed, Shapes, type StandardGraph, type TableRows, type Value } from './standard-graph.js';

const RULES: ReadonlyMap<string, Rule> = new Map([...ELEMENTWISE_RULES, ...ROW_RULES, ...INNER_RULES]);

/** Writes what the heads predict; their values by name. */
export function writeStandard(model: ExportableModel, graph: StandardGraph): ReadonlyMap<string, Value> {
  const { json } = model.written;
  const writer = new StandardWriter(model, graph);
  // As it is read from a file: without what only training does.
  const { ops } = readGraph(json, (name) => model.array(name)).graph;
  for (const op of ops) writer.write(op);
  return new Map(json.heads.map(({ name, tensor }) => [name, writer.value(tensor)]));
}

class StandardWriter {
  readonly #model: ExportableModel;
  readonly #graph: StandardGraph;
  readonly #shapes: Shapes;
  readonly #values = new Map<string, Value>();
  readonly #tables = new Map<string, TableRows>();

  constructor(model: ExportableModel, graph: StandardGraph) {
    this.#model = model;
    this.#graph = graph;
    this.#shapes = new Shapes(graph);
  }

  value(tensor: string): Value {
    return this.#values.get(tensor)!;
  }

  write(op: Op): void {
    const made = this.#made(op);
    if (made === undefined) return;
    const values = Array.isArray(made) ? (made as readonly Value[]) : [made as Value];
    for (const [index, value] of values.entries()) this.#values.set(`${op.name}:${index}`, value);
  }

  #made(op: Op): Value | readonly Value[] | undefined {
    switch (op.type) {
      case Placeholder.type:
        return op.output.spec.dtype === 'float32' ? this.#graph.floats(feedOf(op.output)) : undefined;
      case Constant.type:
      case Variable.type: {
        const { shape } = op.attrs as ConstantAttrs | VariableAttrs;
        return this.#graph.constant(op.name, this.#model.array(op.name), shape);
      }
      case EmbeddingLookup.type:
        return this.#lookup(op as Op<EmbeddingLookupAttrs>);
      case SequenceMask.type:
        return this.#graph.sequenceMask(feedOf(op.inputs[0]!), (op.attrs as { readonly n: number }).n);
      case Cast.type:
        return this.#cast(op);
      default:
        return this.#byRule(op);
    }
  }

  #byRule(op: Op): Value | readonly Value[] | undefined {
    // Columns of ids are told to whoever looks them up.
    if (op.output.spec.dtype === 'int64') return undefined;
    const rule = RULES.get(op.type);
    const context = this.#context(op);
    if (rule === undefined) return context.refuse('other systems have no words for it');
    const inputs = op.inputs.map(({ name }) => this.#values.get(name)!);
    return rule(context, inputs, op);
  }

  #context(op: Op): RuleContext {
    const refuse = (reason: string): never => {
      throw new MonolithError(
        'ML_EXPORT',
        { what: `op ${op.name} of type ${op.type}`, reason, ...(op.place && { place: op.place }) },
        { hint: 'the format native takes it' },
      );
    };
    return { graph: this.#graph, shapes: this.#shapes, refuse };
  }

  #lookup(op: Op<EmbeddingLookupAttrs>): Value {
    const [ids] = op.inputs as [Tensor];
    const table = this.#table(op.attrs.table.name);
    const value = this.#graph.lookup(feedOf(ids), table, op.attrs.pooling, columnsOf(ids));
    return this.#shapes.sized(value, op.output.spec.shape.slice(1) as number[]);
  }

  #cast(op: Op): Value {
    const [x] = op.inputs as [Tensor];
    const all = this.#graph.floats(feedOf(x));
    const columns = columnsOf(x);
    const part = columns === undefined ? all : this.#graph.part(this.#shapes.flat(all), 0, ...columns);
    return this.#shapes.sized(part, op.output.spec.shape.slice(1) as number[]);
  }

  #table(name: string): TableRows {
    const known = this.#tables.get(name);
    if (known !== undefined) return known;
    const table = this.#model.tables.find((one) => one.name === name)!;
    const dim = table.segments.reduce((sum, segment) => sum + segment.dim, 0);
    const [ids, rows] = [new BigInt64Array(table.count), new Float32Array(table.count * dim)];
    let at = 0;
    for (const { id, weights } of table.shownRows()) {
      ids[at] = id;
      rows.set(weights, at * dim);
      at++;
    }
    const made = { name, dim, ids, rows };
    this.#tables.set(name, made);
    return made;
  }
}

/** The feed that ids come from, columns of it or all. */
function feedOf(tensor: Tensor): Feed {
  const { output: fed } = rootOf(tensor);
  const kind = fed.spec.dtype === 'float32' ? 'dense' : fed.spec.ragged ? 'ragged' : 'ids';
  return { name: fed.op.name, kind, width: kind === 'ragged' ? 0 : fed.columns };
}

const rootOf = (tensor: Tensor): Op => (tensor.op.type === Columns.type ? rootOf(tensor.op.inputs[0]!) : tensor.op);

function columnsOf(tensor: Tensor): readonly [number, number] | undefined {
  if (tensor.op.type !== Columns.type) return undefined;
  const { start, end } = tensor.op.attrs as ColumnsAttrs;
  const [base = 0] = columnsOf(tensor.op.inputs[0]!) ?? [];
  return [base + start, base + end];
}
