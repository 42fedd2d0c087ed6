/**
 * @file The part of a graph that predictions need, as plain data.
 *
 * What only training does is left out: of `ifTraining` the other value is taken, dropout and stopped gradients are what
 * they were given. Values of constants and variables are arrays beside it.
 */
import { MonolithError } from '../base/errors.js';
import type { Op, OpDef, Tensor } from '../graph/graph.js';
import { StopGradient } from '../graph/ops/cast.js';
import { Constant, type ConstantAttrs, Variable, type VariableAttrs } from '../graph/ops/state.js';
import { Dropout, type DropoutAttrs, IfTraining } from '../graph/ops/training.js';
import type { TableConfig } from '../sparse/config/table-config.js';
import { EmbeddingLookup } from '../sparse/steps/embedding-ops.js';
import type { JsonObject } from './attributes.js';
import type { PortableOpJson } from './document.js';
import { PORTABLE_OPS } from './ops/all.js';

/** What was written, and what belongs to it. */
export interface WrittenGraph {
  readonly ops: readonly PortableOpJson[];
  /** Names of the given tensors. */
  readonly outputs: readonly string[];
  readonly tables: readonly TableConfig[];
  readonly variables: readonly Op<VariableAttrs>[];
  readonly constants: readonly Op<ConstantAttrs>[];
}

/** The ops under `outputs`. ML_EXPORT for an op that a model in a file cannot have. */
export function writeGraph(outputs: readonly Tensor[]): WrittenGraph {
  const writer = new GraphWriter();
  const names = outputs.map((output) => writer.visit(output));
  return { ...writer, outputs: names };
}

class GraphWriter {
  readonly ops: PortableOpJson[] = [];
  readonly tables: TableConfig[] = [];
  readonly variables: Op<VariableAttrs>[] = [];
  readonly constants: Op<ConstantAttrs>[] = [];
  readonly #seen = new Set<Op>();

  /** Writes what the tensor needs, then its op; the name it is known by. Graphs may be too deep to call oneself. */
  visit(output: Tensor): string {
    const open = [predictingValue(output).op];
    while (open.length > 0) {
      const op = open.at(-1)!;
      const missing = op.inputs.map((input) => predictingValue(input).op).filter((input) => !this.#seen.has(input));
      if (this.#seen.has(op) || missing.length === 0) {
        open.pop();
        if (!this.#seen.has(op)) this.#write(op);
      } else open.push(...missing.reverse());
    }
    return predictingValue(output).name;
  }

  #write(op: Op): void {
    this.#seen.add(op);
    const attributes = this.#attributesOf(op);
    const inputs = op.inputs.map((input) => predictingValue(input).name);
    const { name, type } = op;
    this.ops.push({ name, type, ...(inputs.length > 0 && { inputs }), ...(attributes && { attributes }) });
  }

  #attributesOf(op: Op): JsonObject | undefined {
    if (isOp(op, EmbeddingLookup)) {
      const { table, pooling } = op.attrs;
      if (!this.tables.includes(table)) this.tables.push(table);
      return { table: table.name, pooling: typeof pooling === 'object' ? { ...pooling } : pooling };
    }
    if (isOp(op, Variable)) {
      this.variables.push(op);
      return { dtype: op.attrs.dtype, shape: op.attrs.shape };
    }
    if (isOp(op, Constant)) {
      this.constants.push(op);
      return { shape: op.attrs.shape };
    }
    const known = PORTABLE_OPS.get(op.type);
    if (known === undefined || known.def !== op.def) throw cannotLeave(op, 'predictions of a file have no such op');
    const { attrs } = op as Op<{ readonly transposeA?: boolean; readonly perBatch?: boolean } | null>;
    if (attrs?.perBatch === true || op.outputs.some(({ spec }) => spec.partial)) {
      throw cannotLeave(op, 'it sums over the examples of a batch, so a prediction would depend on the others');
    }
    return known.write(op.attrs);
  }
}

/** The tensor that has the value where nothing is trained. */
function predictingValue(tensor: Tensor): Tensor {
  let value = tensor;
  for (;;) {
    const { op } = value;
    if (isOp(op, IfTraining)) value = op.inputs[1]!;
    else if (isOp(op, StopGradient)) value = op.inputs[0]!;
    else if (isOp(op, Dropout) && (op.attrs as DropoutAttrs).training !== true) value = op.inputs[0]!;
    else return value;
  }
}

function isOp<A>(op: Op, def: OpDef<A>): op is Op<A> & Op {
  return op.def === (def as OpDef<unknown>);
}

function cannotLeave(op: Op, reason: string): MonolithError {
  const fields = { what: `op ${op.name} of type ${op.type}`, reason, ...(op.place && { place: op.place }) };
  return new MonolithError('ML_EXPORT', fields);
}
