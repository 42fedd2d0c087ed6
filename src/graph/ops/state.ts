/** @file Ops that bring values in and keep them: placeholders, constants, variables, assignments, counters, groups. */

import { checkOptions } from '../../base/check-options.js';
import { LIMITS } from '../../base/limits.js';
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
import type { Int64PerExample } from '../typed-inputs.js';
import { floats } from './checks.js';
import { nameOf, type OpOptions } from './options.js';

/** Collection of all variables of a graph, and the one that holds the global step. */
export const VARIABLES = 'variables';
export const GLOBAL_STEP = 'global_step';

/** Collection of variables that are copies of others: they are in sessions, and not in checkpoints. */
export const LOCAL_VARIABLES = 'local_variables';

/** What feeds and checkpoints know by its name has one. */
interface Named extends OpOptions {
  readonly name: string;
}

export interface PlaceholderAttrs {
  readonly spec: TensorSpec;
  /**
   * Ragged feeds: how many values a row has at the most, on average over the batch. With `rowMax` it is what buffers
   * begin with, and no limit.
   */
  readonly valuesPerRow: number;
  /** Ragged feeds whose buffers grow with the data: more values in one row are refused. */
  readonly rowMax?: number | undefined;
}

export const Placeholder: OpDef<PlaceholderAttrs> = {
  type: 'Placeholder',
  infer: (_, { spec, valuesPerRow, rowMax = 1 }) => {
    const width = spec.shape[1] ?? 1;
    if (!isCount(width)) throw misfit('Placeholder', `an example cannot have ${width} values`);
    if (spec.ragged && !(valuesPerRow > 0))
      throw misfit('Placeholder', `rows cannot have ${valuesPerRow} values on average`);
    if (!isCount(rowMax)) throw misfit('Placeholder', `no row can have ${rowMax} values at the most`);
    return [spec];
  },
};

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

export interface PlaceholderOptions extends Named {
  /** Values of an example. Default: 1. */
  readonly width?: number;
}

/** A dense feed `[batch, width]`; width 1 gives `[batch]`. */
export function placeholder(graph: Graph, options: PlaceholderOptions): Tensor {
  const { name, width = 1 } = checkOptions('placeholder', options, ['width', 'name']);
  const spec: TensorSpec = { dtype: 'float32', shape: width === 1 ? ['batch'] : ['batch', width] };
  return graph.add(Placeholder, [], { spec, valuesPerRow: 1 }, name).output;
}

/** A feed of `width` ids per example, `[batch, width]` int64: features with one id each, side by side. */
export function idsPlaceholder(graph: Graph, options: PlaceholderOptions): Tensor {
  const { name, width = 1 } = checkOptions('idsPlaceholder', options, ['width', 'name']);
  const spec: TensorSpec = { dtype: 'int64', shape: width === 1 ? ['batch'] : ['batch', width] };
  return graph.add(Placeholder, [], { spec, valuesPerRow: width }, name).output;
}

export interface RaggedPlaceholderOptions extends Named {
  /** How many ids an example has at the most, on average over the batch. Default: as many as there are. */
  readonly valuesPerRow?: number;
  /** Without `valuesPerRow`: ids of one example that are refused if there are more. Default: a million (2 ** 20). */
  readonly rowMax?: number;
}

/** Ids per example that are planned for where nobody says how many there are; more are made room for when they come. */
export const IDS_PER_ROW = 16;

/** A feed of any number of int64 ids per example. */
export function raggedPlaceholder(graph: Graph, options: RaggedPlaceholderOptions): Tensor {
  const { name, valuesPerRow, rowMax } = checkOptions('raggedPlaceholder', options, ['valuesPerRow', 'rowMax', 'name']);
  const spec: TensorSpec = { dtype: 'int64', shape: ['batch'], ragged: true };
  if (valuesPerRow !== undefined && rowMax === undefined)
    return graph.add(Placeholder, [], { spec, valuesPerRow }, name).output;
  if (valuesPerRow !== undefined)
    throw misfit('Placeholder', 'valuesPerRow is a limit of its own: rowMax goes without it');
  const grown = rowMax ?? LIMITS.rowIds;
  const attrs = { spec, valuesPerRow: Math.min(IDS_PER_ROW, grown), rowMax: grown };
  return graph.add(Placeholder, [], attrs, name).output;
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

export interface ConstantOptions extends OpOptions {
  /** Default: `[]` of a number, `[values.length]` of a list. */
  readonly shape?: readonly number[];
}

/** A value that never changes: a number, or a list in row-major order. */
export function constant(graph: Graph, values: number | ArrayLike<number>, options: ConstantOptions = {}): Tensor {
  const list = typeof values === 'number' ? Float32Array.of(values) : Float32Array.from(values);
  const { shape = typeof values === 'number' ? [] : [list.length], name = 'Const' } = checkOptions(
    'constant',
    options,
    ['shape', 'name'],
  );
  return graph.add(Constant, [], { values: list, shape }, name).output;
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

/** What `variable` takes; creators see all of it as VariableOptions. */
export interface NewVariable extends Omit<VariableOptions, 'trainable'> {
  /** Whether `applyGradients` and `minimize` may step it. Default: true. */
  readonly trainable?: boolean;
}

/**
 * A float variable, known to checkpoints by its name.
 *
 * ```ts
 * const weights = variable(graph, { name: 'weights', shape: [8, 1], initial: () => new Float32Array(8) });
 * ```
 */
export function variable(graph: Graph, options: NewVariable): Tensor {
  const {
    name,
    shape,
    initial,
    trainable = true,
  } = checkOptions('variable', options, ['shape', 'initial', 'trainable', 'name']);
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
  const existing = graph.getCollection(GLOBAL_STEP)[0];
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

export interface IncrementOptions extends OpOptions {
  /** Default: 1. */
  readonly by?: number;
}

/** Adds `by` to an int64 variable, once per step. */
export function increment(counter: Tensor, options: IncrementOptions = {}): Op<{ readonly by: number }> {
  const { by = 1, name = 'AssignAdd' } = checkOptions('increment', options, ['by', 'name']);
  return counter.graph.add(Increment, [counter], { by }, name);
}

export const Group: OpDef<null> = { type: 'NoOp', infer: () => [] };

/** An op that is done when all of `ops` are. */
export function group(graph: Graph, ops: readonly (Op | Tensor)[], options: OpOptions = {}): Op<null> {
  const list = ops.map((item) => (item instanceof Tensor ? item.op : item));
  return graph.controlDependencies(list, () => graph.add(Group, [], null, nameOf('group', options, 'group_deps')));
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

/**
 * Sets a variable to `value` at the end of the step. What must see the new value runs after it by a control dependency.
 */
export function assign(target: Tensor, value: Tensor, options: OpOptions = {}): Op {
  return target.graph.add(Assign, [value, target], { adds: false }, nameOf('assign', options, 'Assign')) as Op;
}

/** Inputs: a number for each example, counter. */
export const AssignAddI64: OpDef<null> = {
  type: 'AssignAddI64',
  takesVariable: (index) => index === 1,
  infer: ([value, target]) => {
    if (target?.op.def !== (Variable as OpDef<never>) || target.spec.dtype !== 'int64') {
      throw misfit('AssignAdd', `${target?.name} is no int64 variable`);
    }
    const { dtype, ragged = false } = value!.spec;
    if (dtype !== 'int64' || ragged || !value!.perExample || value!.columns !== 1) {
      throw misfit(target.op.name, `it takes one int64 for each example, and ${value!.name} is none`);
    }
    return [];
  },
};

/**
 * Adds `value` to a variable at the end of the step. To an int64 variable, such as the global step, the sum of a fed
 * int64 over the examples of the batch is added.
 *
 * ```ts
 * const count = assignAdd(globalStep(graph), idsPlaceholder(graph, { name: 'weight' }));
 * ```
 */
export function assignAdd(target: Tensor, value: Tensor | Int64PerExample, options: OpOptions = {}): Op {
  const inputs = [value as Tensor, target];
  const name = nameOf('assignAdd', options, 'AssignAdd');
  if (target.spec.dtype === 'int64') return target.graph.add(AssignAddI64, inputs, null, name) as Op;
  return target.graph.add(Assign, inputs, { adds: true }, name) as Op;
}
