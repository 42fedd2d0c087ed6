/** @file Ops that bring values in and keep them: placeholders, constants, variables, assignments, counters, groups. */
import {
  elementCount,
  type Graph,
  misfit,
  type Op,
  type OpDef,
  sameShape,
  shapeText,
  Tensor,
  type TensorSpec,
  type VariableOptions,
} from '../graph.js';
import { floats } from './checks.js';

/** Collection of all variables of a graph, and the one that holds the global step. */
export const VARIABLES = 'variables';
export const GLOBAL_STEP = 'global_step';

/** Collection of variables that are copies of others: they are in sessions, and not in checkpoints. */
export const LOCAL_VARIABLES = 'local_variables';

export interface PlaceholderAttrs {
  readonly spec: TensorSpec;
  /** Ragged feeds: how many values a row has at the most, on average over a slice of the batch; buffers are sized by it. */
  readonly valuesPerRow: number;
}

export const Placeholder: OpDef<PlaceholderAttrs> = {
  type: 'Placeholder',
  infer: (_, { spec, valuesPerRow }) => {
    const width = spec.shape[1] ?? 1;
    if (!isCount(width)) throw misfit('Placeholder', `an example cannot have ${width} values`);
    if (spec.ragged && !(valuesPerRow > 0))
      throw misfit('Placeholder', `rows cannot have ${valuesPerRow} values on average`);
    return [spec];
  },
};

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** A dense feed `[batch, width]`; width 1 gives `[batch]`. */
export function placeholder(graph: Graph, name: string, width = 1): Tensor {
  const spec: TensorSpec = { dtype: 'float32', shape: width === 1 ? ['batch'] : ['batch', width] };
  return graph.add(Placeholder, [], { spec, valuesPerRow: 1 }, name).output;
}

/** A feed of `width` ids per example, `[batch, width]` int64: features with one id each, side by side. */
export function idsPlaceholder(graph: Graph, name: string, width = 1): Tensor {
  const spec: TensorSpec = { dtype: 'int64', shape: width === 1 ? ['batch'] : ['batch', width] };
  return graph.add(Placeholder, [], { spec, valuesPerRow: width }, name).output;
}

/** A sparse feature: rows of int64 ids. */
export function raggedPlaceholder(graph: Graph, name: string, valuesPerRow: number): Tensor {
  const spec: TensorSpec = { dtype: 'int64', shape: ['batch'], ragged: true };
  return graph.add(Placeholder, [], { spec, valuesPerRow }, name).output;
}

export interface ConstantAttrs {
  readonly values: Float32Array;
  readonly shape: readonly number[];
}

export const Constant: OpDef<ConstantAttrs> = {
  type: 'Const',
  infer: (_, { values, shape }) => {
    if (values.length !== elementCount(shape)) {
      throw misfit('Const', `${values.length} values do not fill ${shapeText(shape)}`);
    }
    return [{ dtype: 'float32', shape }];
  },
};

export function constant(graph: Graph, values: ArrayLike<number>, shape: readonly number[], name?: string): Tensor {
  return graph.add(Constant, [], { values: Float32Array.from(values), shape }, name ?? 'Const').output;
}

export interface VariableAttrs {
  readonly dtype: 'float32' | 'int64';
  readonly shape: readonly number[];
  /** First values, row-major; asked for once per session that does not restore them. */
  readonly initial: () => Float32Array | BigInt64Array;
  readonly trainable: boolean;
}

export const Variable: OpDef<VariableAttrs> = {
  type: 'Variable',
  infer: (_, attrs) => [{ dtype: attrs.dtype, shape: attrs.shape }],
};

export function variable(
  graph: Graph,
  name: string,
  shape: readonly number[],
  initial: () => Float32Array,
  trainable = true,
): Tensor {
  let make = ({ name, ...attrs }: VariableOptions): Tensor => {
    const op = graph.add(Variable, [], { dtype: 'float32', ...attrs }, name);
    graph.addToCollection(VARIABLES, op.output);
    return op.output;
  };
  for (const creator of graph.variableCreators) {
    const next = make;
    make = (options) => creator(next, options);
  }
  return make({ name, shape, initial, trainable });
}

/** The counter of training steps, made on first use: an int64 variable called `global_step`. */
export function globalStep(graph: Graph): Tensor {
  const existing = graph.getCollection<Tensor>(GLOBAL_STEP)[0];
  if (existing !== undefined) return existing;
  const attrs: VariableAttrs = { dtype: 'int64', shape: [], initial: () => new BigInt64Array(1), trainable: false };
  const op = graph.rootScope(() => graph.add(Variable, [], attrs, GLOBAL_STEP));
  graph.addToCollection(VARIABLES, op.output);
  graph.addToCollection(GLOBAL_STEP, op.output);
  return op.output;
}

export const Increment: OpDef<{ readonly by: number }> = {
  type: 'AssignAdd',
  takesVariable: () => true,
  infer: ([target], { by }) => {
    if (target?.op.def !== (Variable as OpDef<never>) || target.spec.dtype !== 'int64') {
      throw misfit('AssignAdd', 'the target must be an int64 variable');
    }
    if (!Number.isInteger(by) || by < 0 || by >= 2 ** 32) throw misfit('AssignAdd', `a counter cannot grow by ${by}`);
    return [];
  },
};

/** Adds `by` to an int64 variable, once per step. */
export function increment(counter: Tensor, by = 1, name = 'AssignAdd'): Op<{ readonly by: number }> {
  return counter.graph.add(Increment, [counter], { by }, name);
}

export const Group: OpDef<null> = { type: 'NoOp', infer: () => [] };

/** An op that is done when all of `ops` are. */
export function group(graph: Graph, ops: readonly (Op | Tensor)[], name = 'group_deps'): Op<null> {
  const list = ops.map((item) => (item instanceof Tensor ? item.op : item));
  return graph.controlDependencies(list, () => graph.add(Group, [], null, name));
}

/** Inputs: value, variable. */
export const Assign: OpDef<{ readonly adds: boolean }> = {
  type: 'Assign',
  takesVariable: (index) => index === 1,
  infer: ([value, target]) => {
    if (target?.op.def !== (Variable as OpDef<never>) || target.spec.dtype !== 'float32') {
      throw misfit('Assign', `${target?.name} is no float variable`);
    }
    if (!sameShape(floats('Assign', value!).spec.shape, target.spec.shape)) {
      const [found, wanted] = [value!, target].map((tensor) => shapeText(tensor.spec.shape));
      throw misfit(target.op.name, `a value of shape ${found} does not fit ${wanted}`);
    }
    return [];
  },
};

/** Sets a variable to `value` at the end of the step. What must see the new value runs after it by a control dependency. */
export function assign(target: Tensor, value: Tensor, name = 'Assign'): Op {
  return target.graph.add(Assign, [value, target], { adds: false }, name) as Op;
}

/** Adds `value` to a variable at the end of the step. */
export function assignAdd(target: Tensor, value: Tensor, name = 'AssignAdd'): Op {
  return target.graph.add(Assign, [value, target], { adds: true }, name) as Op;
}
