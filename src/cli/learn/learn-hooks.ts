/** @file What watches a run: sizes of tables, the trace of all threads. */
import type { RunEvent, TablesEvent, TimeEvent } from '../../recipe/run-event.js';
import type { Session } from '../../runtime/session/session.js';
import { planTable, tableDim } from '../../sparse/config/table-plan.js';
import { TABLES } from '../../sparse/steps/embedding-ops.js';
import { HashTable } from '../../sparse/table/hash-table.js';
import { writeChromeTrace } from '../../trace/chrome-trace.js';
import { liveTrace, type TraceMoment, traceMoment } from '../../trace/live-trace.js';
import { summarizeChromeTrace } from '../../trace/trace-summary.js';
import type { EvaluationListener } from '../../train/hooks/evaluation.js';
import type { TrainHook } from '../../train/hooks/hook.js';
import type { ModelSpec } from '../../train/model-spec.js';
import type { LearnFlags } from './learn-options.js';

export interface Watching {
  readonly hooks: (model: ModelSpec) => readonly TrainHook[];
  readonly listeners: readonly EvaluationListener[];
  /** Called with the progress of training. */
  readonly progress: (step: number) => void;
}

/** Least time between two looks at what threads did: each costs some milliseconds. */
const LOOK_MS = 1000;
/** From the first step after an evaluation to the first look: by then there is something to see. */
const FIRST_LOOK_MS = 50;

/** `onFolder` is called when the folder of the run is ours: another process may train in it until then. */
export function watchRun(flags: LearnFlags, tell: (event: RunEvent) => void, onFolder: () => void): Watching {
  const { trace } = flags;
  let seen: TraceMoment | undefined;
  let session: Session | undefined;
  let time: TimeEvent | undefined;
  let nextMs = 0;
  const sessionHook: TrainHook = {
    afterCreateSession(made) {
      session = made;
      onFolder();
    },
  };
  return {
    hooks: (model) => (trace === null ? [sessionHook] : [sessionHook, new TraceHook(trace, model.name)]),
    listeners: [
      {
        afterEvaluation({ session }, { step }) {
          tell(tablesEvent(session, step));
          if (time !== undefined) tell(time);
          // What threads do while they evaluate and save says nothing of training.
          [time, seen] = [undefined, undefined];
        },
      },
    ],
    progress(step) {
      const now = performance.now();
      if (session === undefined) return;
      if (seen === undefined) {
        seen = traceMoment(session.trace.threads);
        nextMs = now + FIRST_LOOK_MS;
        return;
      }
      if (now < nextMs) return;
      nextMs = now + LOOK_MS;
      time = timeEvent(session, step, seen) ?? time;
    },
  };
}

function tablesEvent(session: Session, step: number): TablesEvent {
  const each = session.graph.getCollection(TABLES).map((config) => {
    const rows = HashTable.of(session, config).size;
    return { name: config.name, rows, bytes: rows * planTable(config).rowBytes, dim: tableDim(config) };
  });
  const sum = (of: 'rows' | 'bytes') => each.reduce((total, table) => total + table[of], 0);
  return { event: 'tables', step, rows: sum('rows'), bytes: sum('bytes'), rss: process.memoryUsage.rss(), each };
}

/** Where the time went since `seen`, as far back as the rings of the threads hold it. */
function timeEvent(session: Session, step: number, seen: TraceMoment | undefined): TimeEvent | undefined {
  const { threads, names } = session.trace;
  const summary = summarizeChromeTrace(liveTrace(threads, names, seen));
  if (summary.steps === null) return undefined;
  const { kernels, waits, javascript } = summary.steps;
  const each = summary.threads
    .filter(({ busyMs }) => busyMs > 0)
    .map(({ name, utilisation, waitMs, windowMs }) => ({
      ...{ name, busy: utilisation, waiting: windowMs > 0 ? waitMs / windowMs : 0 },
    }));
  return { event: 'time', step, kernels, waits, javascript, threads: each };
}

/** Writes what all threads did, also where the training failed: that is the run whose trace is looked at. */
class TraceHook implements TrainHook {
  readonly #file: string;
  readonly #model: string;
  #session: Session | undefined;

  constructor(file: string, model: string) {
    this.#file = file;
    this.#model = model;
  }

  afterCreateSession(session: Session): void {
    this.#session = session;
  }

  async close(): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    const { threads, names } = session.trace;
    const { backend, device } = session;
    await writeChromeTrace(this.#file, { threads, names, metadata: { model: this.#model, backend, device } });
  }
}
