/** @file A graph from plain data: checked op by op, so that what comes of a stranger's file is a graph or an error. */
import { checkLimit } from '../base/limits.js';
import { Graph, misfit, type Tensor } from '../graph/graph.js';
import { Constant, VARIABLES, Variable } from '../graph/ops/state.js';
import type { TableConfig } from '../sparse/config/table-config.js';
import { EmbeddingLookup, embeddingLookup } from '../sparse/steps/embedding-ops.js';
import type { Pooling } from '../sparse/steps/pooled-shape.js';
import { Attributes, ROW_FLOATS_MAX } from './attributes.js';
import type { PortableGraph, PortableOpJson } from './document.js';
import { PORTABLE_OPS } from './ops/all.js';
import { readTables, servingTable } from './portable-tables.js';

/** Values of variables and constants by name. */
export type ArraysOf = (name: string, shape: readonly number[]) => Float32Array;

export interface ReadGraph {
  readonly graph: Graph;
  /** Tables by name. */
  readonly tables: ReadonlyMap<string, TableConfig>;
}

/** The graph of `ops`; `valuesPerRow` is in place of what ragged feeds say. */
export function readGraph(
  { ops, tables }: PortableGraph,
  arrays: ArraysOf,
  valuesPerRow: Readonly<Record<string, number>> = {},
): ReadGraph {
  const graph = new Graph({ mode: 'predict' });
  const known = new Map(
    [...readTables(tables.map((table) => ({ ...table }) as never))].map(([name, table]) => [name, servingTable(table)]),
  );
  checkLimit('graphOps', ops.length, (reason) => {
    throw misfit('graph', reason);
  });
  for (const op of ops) readOp(graph, op, { arrays, tables: known, valuesPerRow });
  return { graph, tables: known };
}

interface Parts {
  readonly arrays: ArraysOf;
  readonly tables: ReadonlyMap<string, TableConfig>;
  readonly valuesPerRow: Readonly<Record<string, number>>;
}

function readOp(graph: Graph, { name, type, inputs: names = [], attributes = {} }: PortableOpJson, parts: Parts): void {
  const inputs = names.map((input) => graph.tensor(input));
  const given = new Attributes(name, attributes);
  const made = makeOp(graph, { name, type, inputs, given }, parts);
  // A name that is taken would get a suffix, and later ops would read another tensor.
  if (made.op.name !== name) throw misfit(name, 'there are two ops of this name');
  for (const { columns } of made.op.outputs) {
    if (!(columns <= ROW_FLOATS_MAX) && made.perExample) throw misfit(name, `its rows have ${columns} floats`);
  }
}

interface Asked {
  readonly name: string;
  readonly type: string;
  readonly inputs: readonly Tensor[];
  readonly given: Attributes;
}

function makeOp(graph: Graph, { name, type, inputs, given }: Asked, parts: Parts): Tensor {
  switch (type) {
    case Constant.type: {
      const shape = shapeOf(given);
      return graph.add(Constant, [], { values: parts.arrays(name, shape), shape }, name).output;
    }
    case Variable.type: {
      const shape = shapeOf(given);
      if (given.choice('dtype', ['float32']) !== 'float32') given.refuse('dtype');
      const initial = () => parts.arrays(name, shape);
      const { output } = graph.add(Variable, [], { dtype: 'float32', shape, initial, trainable: false }, name);
      graph.addToCollection(VARIABLES, output);
      return output;
    }
    case EmbeddingLookup.type: {
      const table = parts.tables.get(String(given.get('table')));
      if (table === undefined) return given.refuse('table', 'is none of the tables');
      if (inputs.length !== 1) throw misfit(name, 'a lookup has one input');
      return embeddingLookup(inputs[0] as never, table, { pooling: poolingOf(given), name });
    }
    default: {
      const op = PORTABLE_OPS.get(type);
      if (op === undefined) throw misfit(name, `there is no op of type ${type}`);
      const [least, most] = typeof op.inputs === 'number' ? [op.inputs, op.inputs] : op.inputs;
      if (inputs.length < least || inputs.length > most) throw misfit(name, `it has ${inputs.length} inputs`);
      const attrs = op.read(given, inputs);
      const perRow = Object.hasOwn(parts.valuesPerRow, name) ? parts.valuesPerRow[name] : undefined;
      const fed = perRow === undefined ? attrs : { ...(attrs as object), valuesPerRow: perRow, rowMax: undefined };
      const [output] = graph.add(op.def, inputs, fed, name).outputs;
      return output!;
    }
  }
}

function shapeOf(given: Attributes): number[] {
  const shape = given.wholes('shape');
  if (shape.length > 16 || !(shape.reduce((count, size) => count * size, 1) <= 2 ** 28)) given.refuse('shape');
  return shape;
}

function poolingOf(given: Attributes): Pooling {
  const value = given.get('pooling');
  if (value === 'sum' || value === 'mean') return value;
  return { firstN: given.object('pooling').whole('firstN', 1, 2 ** 16) };
}
