/**
 * @file Names of traced things and their ids. The main thread makes the table while it lays a session out; events carry
 * only the id, and the table meets them again when the trace is written.
 */
import { MonolithError } from '../base/errors.js';
import { NAME_ID_END } from '../memory/trace-layout.js';

/**
 * What a span is: a `phase` holds other spans, an `op` is work of its own, a `wait` is a thread with nothing to do,
 * `io` is reading and writing files, a `kernel` is an op of a program, recorded in some of the phases only. Only waits
 * do not count as busy.
 */
export const TRACE_CATEGORIES = ['phase', 'op', 'kernel', 'wait', 'io'] as const;
export type TraceCategory = (typeof TRACE_CATEGORIES)[number];

export interface TraceName {
  readonly name: string;
  readonly category: TraceCategory;
}

export class TraceNames {
  // Id 0 is taken, so that a name id that was never filled in shows itself in the trace.
  readonly #names: TraceName[] = [{ name: '(unnamed)', category: 'op' }];
  readonly #ids = new Map<string, number>();

  /** The id of `name`, given out at the first call. Counters and instants may leave the category out. */
  id(name: string, category: TraceCategory = 'op'): number {
    const known = this.#ids.get(name);
    if (known === undefined) return this.#add(name, category);
    const before = this.#names[known]!.category;
    if (before !== category) {
      throw new MonolithError('ML_TRACE_NAME', {
        name,
        reason: `it is a ${before} already and cannot be a ${category}`,
      });
    }
    return known;
  }

  /** The name of an id; an id from elsewhere gets a made-up one, as a trace is worth reading even so. */
  get(id: number): TraceName {
    return this.#names[id] ?? { name: `(name ${id})`, category: 'op' };
  }

  /** Ids are below this. */
  get size(): number {
    return this.#names.length;
  }

  #add(name: string, category: TraceCategory): number {
    const id = this.#names.length;
    if (id >= NAME_ID_END) throw new MonolithError('ML_TRACE_NAME', { name, reason: `there are ${id} names already` });
    this.#names.push({ name, category });
    this.#ids.set(name, id);
    return id;
  }
}
