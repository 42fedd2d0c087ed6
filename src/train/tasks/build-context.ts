/**
 * @file The graph that a task's functions build in, and whether that is only to see what they declare: collect mode,
 * the dry run of the reference.
 */
import { MonolithError } from '../../base/errors.js';
import type { Graph } from '../../graph/graph.js';
import { isExporting } from './export-context.js';
import { Scope } from './scope.js';

export interface BuildContext {
  readonly graph: Graph;
  readonly dryRun: boolean;
}

const scope = new Scope<BuildContext>();

export function withBuildContext<R>(context: BuildContext, body: () => R): R {
  return scope.with(context, body);
}

/** The graph at hand; ML_TASK outside of a model function. */
export function currentGraph(): Graph {
  const context = scope.get();
  if (context !== undefined) return context.graph;
  const hint = 'it is there while a model function runs';
  throw new MonolithError('ML_TASK', { reason: 'no graph is being built' }, { hint });
}

/** Whether the model function is called only to see what it declares. */
export function isDryRun(): boolean {
  return scope.get()?.dryRun ?? false;
}

/** Whether what is built is not trained. */
export function isDryRunOrExporting(): boolean {
  return isDryRun() || isExporting();
}

/** What belongs to the graph at hand under a key, made on first use (graph_meta.get_meta). */
export function getMeta<T>(key: string, factory: () => T): T {
  return currentGraph().getMeta(key, factory);
}
