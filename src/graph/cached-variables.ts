/**
 * @file Variables that are elsewhere, read from copies that are here (native_training/variables).
 *
 * A variable made under `cachedVariableCreator` on another device has two local copies. Ops read the *cached* one,
 * while fetches, gradients and updates are about the variable itself. `fetchAllCachedVariables` copies variables to
 * their *fetched* copies, and may run beside a step; `assignAllCachedVariables` takes those over, between steps. So
 * what a step reads is as old as the last fetch.
 */
import { MonolithError } from '../base/errors.js';
import { type Graph, misfit, type Op, type OpDef, type Tensor, type VariableCreator } from './graph.js';
import { assign, group, LOCAL_VARIABLES, Variable, type VariableAttrs } from './ops/state.js';

/** Collection of the variables that have cached copies. */
export const CACHED_VARIABLES = 'monolith_cached_variables';

export interface CachedVariableAssociates {
  readonly asyncFetchedVar: Tensor;
  readonly asyncCachedVar: Tensor;
}

type CachedVariableMeta = Map<Tensor, CachedVariableAssociates>;

function metaOf(graph: Graph): CachedVariableMeta {
  return graph.getMeta<CachedVariableMeta>('cached_variables_meta', () => new Map());
}

/** The value of the second input; its gradient goes to the first. */
export const CachedValue: OpDef<null> = {
  type: 'CachedValue',
  takesVariable: () => true,
  infer: ([, cached]) => [cached!.spec],
  gradient: (_, [grad]) => [grad, undefined],
};

function checkCopy(inputs: readonly Tensor[]): readonly [] {
  const [source, target] = inputs as [Tensor, Tensor];
  if (target.op.def !== (Variable as OpDef<unknown>)) throw misfit(target.op.name, 'only a variable can be copied to');
  if (target.columns !== source.columns) throw misfit(target.op.name, `it is not as large as ${source.name}`);
  return [];
}

/** Copies the first variable, as it is before the updates of the step, to the second, which the step does not read. */
export const FetchVariable: OpDef<null> = { type: 'FetchVariable', takesVariable: () => true, infer: checkCopy };

/**
 * For `graph.variableCreatorScope`. A variable on the device that the copies would be on is left as it is.
 *
 * ```ts
 * const w = graph.variableCreatorScope(cachedVariableCreator, () =>
 *   graph.device(psDevice(1), () => variable(graph, 'w', [2, 1], () => Float32Array.of(1, 2))),
 * );
 * ```
 */
export const cachedVariableCreator: VariableCreator = (next, options) => {
  const variable = next(options);
  const { graph, op } = variable;
  if (op.def !== (Variable as OpDef<unknown>)) throw new MonolithError('ML_CACHED_TYPE');
  if (metaOf(graph).has(variable)) throw new MonolithError('ML_CACHED_TWICE');
  if (op.device === '') return variable;
  const copy = (suffix: string): Tensor => {
    const attrs: VariableAttrs = { ...(op.attrs as VariableAttrs), trainable: false };
    const made = graph.rootScope(() =>
      graph.device(null, () => graph.add(Variable, [], attrs, `${op.name}/${suffix}`)),
    );
    graph.addToCollection(LOCAL_VARIABLES, made.output);
    return made.output;
  };
  const associates = { asyncCachedVar: copy('async_cached'), asyncFetchedVar: copy('async_fetched') };
  const inputs = [variable, associates.asyncCachedVar];
  const value = graph.device(null, () => graph.add(CachedValue, inputs, null, `${op.name}/cached_value`));
  graph.addToCollection(CACHED_VARIABLES, variable);
  graph.readInstead(variable, value.output);
  metaOf(graph).set(variable, associates);
  return variable;
};

/** The copies of a cached variable; undefined for another. */
export function cachedCopiesOf(variable: Tensor): CachedVariableAssociates | undefined {
  return metaOf(variable.graph).get(variable);
}

/** An op that fetches all cached variables of the graph. */
export function fetchAllCachedVariables(graph: Graph): Op {
  const ops = cachedOf(graph).map(([variable, { asyncFetchedVar }]) => {
    const name = `fetch_from_${variable.op.device.replaceAll(/[:/]/g, '_')}`;
    return graph.add(FetchVariable, [variable, asyncFetchedVar], null, name);
  });
  return group(graph, ops as Op[]) as Op;
}

/** An op that makes what was fetched last the value that is read. */
export function assignAllCachedVariables(graph: Graph): Op {
  const ops = cachedOf(graph).map(([, { asyncFetchedVar, asyncCachedVar }]) =>
    assign(asyncCachedVar, asyncFetchedVar, { name: 'assign_cached_var' }),
  );
  return group(graph, ops, { name: 'assign_all_cached_variables' }) as Op;
}

function cachedOf(graph: Graph): (readonly [Tensor, CachedVariableAssociates])[] {
  return graph.getCollection(CACHED_VARIABLES).map((variable) => [variable, metaOf(graph).get(variable)!]);
}
