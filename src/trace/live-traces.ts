/**
 * @file The traces of the sessions of this thread that are open, for whoever wants to know what threads do right now.
 */
import type { TraceNames } from './trace-names.js';
import type { TraceRing } from './trace-ring.js';

export interface LiveTrace {
  readonly names: TraceNames;
  readonly threads: readonly { readonly name: string; readonly ring: TraceRing }[];
}

/** Weak: a session that nobody closed must not be kept for its trace. */
const traces = new Set<WeakRef<LiveTrace>>();

/** Makes a trace known; call what it returns when its threads have ended. */
export function addLiveTrace(trace: LiveTrace): () => void {
  const entry = new WeakRef(trace);
  traces.add(entry);
  return () => void traces.delete(entry);
}

/** Those that are open, oldest first. */
export function liveTraces(): LiveTrace[] {
  return [...traces].flatMap((entry) => entry.deref() ?? []);
}
