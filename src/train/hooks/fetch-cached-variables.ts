/** @file Keeps cached variables at most one step behind (native_training/variables). */
import { assignAllCachedVariables, CACHED_VARIABLES, fetchAllCachedVariables } from '../../graph/cached-variables.js';
import type { Graph, Op } from '../../graph/graph.js';
import type { Session } from '../../runtime/session/session.js';
import type { RunContext, TrainHook } from './hook.js';

/**
 * Before the first step cached values are brought up to date. Every step fetches the variables as they were before its
 * updates, beside its own work, and afterwards that becomes the value the next step reads.
 */
export class FetchAllCachedVariablesHook implements TrainHook {
  #fetch: readonly Op[] = [];
  #assign: readonly Op[] = [];

  begin(graph: Graph): void {
    if (graph.getCollection(CACHED_VARIABLES).length === 0) return;
    this.#fetch = [fetchAllCachedVariables(graph)];
    this.#assign = [assignAllCachedVariables(graph)];
  }

  /** Variables may have been restored: initial values of the copies do not count. */
  async afterCreateSession(session: Session): Promise<void> {
    if (this.#fetch.length === 0) return;
    await session.run(this.#fetch);
    await session.run(this.#assign);
  }

  /** Without cached variables, steps never pause for this hook. */
  quietSteps(): number {
    return this.#fetch.length === 0 ? Number.POSITIVE_INFINITY : 1;
  }

  beforeRun(): readonly Op[] {
    return this.#fetch;
  }

  async afterRun({ session }: RunContext): Promise<void> {
    if (this.#assign.length > 0) await session.run(this.#assign);
  }
}
