/**
 * @file The events of a run, put where a reader looks for them. A run that was gone on with has the curves of all its
 * parts, and the words of its last one.
 */
import type { KeptEvent, RunEvent } from '../recipe/run-event.js';

type Named<K extends RunEvent['event']> = Extract<KeptEvent, { event: K }>;

export interface RunStory {
  readonly run: Named<'run'> | undefined;
  readonly data: Named<'data'> | undefined;
  readonly split: Named<'split'> | undefined;
  readonly model: Named<'model'> | undefined;
  readonly start: Named<'start'> | undefined;
  readonly progress: readonly Named<'progress'>[];
  readonly evals: readonly Named<'eval'>[];
  readonly tables: readonly Named<'tables'>[];
  readonly times: readonly Named<'time'>[];
  readonly saves: readonly Named<'checkpoint'>[];
  readonly asked: readonly Named<'asked'>[];
  readonly warnings: readonly Named<'warning'>[];
  readonly notes: readonly Named<'note'>[];
  readonly trained: Named<'trained'> | undefined;
  readonly test: Named<'test'> | undefined;
  readonly freshness: Named<'freshness'> | undefined;
  readonly error: Named<'error'> | undefined;
  readonly done: Named<'done'> | undefined;
  /** Times that training began: more than one when it was gone on with. */
  readonly parts: number;
  /** Milliseconds of the last part up to its last event. */
  readonly ms: number;
}

export function storyOf(events: readonly KeptEvent[]): RunStory {
  const all = <K extends RunEvent['event']>(name: K, from = events) =>
    from.filter((event): event is Named<K> => event.event === name);
  const begins = Math.max(
    0,
    events.findLastIndex(({ event }) => event === 'run'),
  );
  const last = events.slice(begins);
  const latest = <K extends RunEvent['event']>(name: K) => all(name, last).at(-1);
  return {
    run: latest('run'),
    data: latest('data'),
    split: latest('split'),
    model: latest('model'),
    start: latest('start'),
    progress: forward(all('progress')),
    evals: forward(all('eval')),
    tables: forward(all('tables')),
    times: forward(all('time')),
    saves: all('checkpoint', last),
    asked: all('asked'),
    warnings: all('warning', last),
    notes: all('note', last),
    trained: latest('trained'),
    test: latest('test'),
    freshness: all('freshness').at(-1),
    error: latest('error'),
    done: latest('done'),
    parts: Math.max(1, all('start').length),
    ms: last.at(-1)?.atMs ?? 0,
  };
}

/** Points by step: what was trained again after a restore counts once, as it was last. */
function forward<E extends { readonly step: number }>(events: readonly E[]): E[] {
  const byStep = new Map<number, E>();
  for (const event of events) byStep.set(event.step, event);
  return [...byStep.values()].sort((a, b) => a.step - b.step);
}

/** The best evaluation by the metric that chose; undefined where there was none. */
export function bestEval({ evals, test, trained }: RunStory): Named<'eval'> | undefined {
  const step = test?.step ?? trained?.bestStep;
  const told = evals.find((event) => event.step === step);
  if (told !== undefined) return told;
  return evals.reduce<Named<'eval'> | undefined>((best, event) => {
    if (event.auc === null) return best;
    return best === undefined || event.auc > (best.auc ?? 0) ? event : best;
  }, undefined);
}

/** How the run ended, or that nobody knows. */
export function endOf({ error, done, freshness, start }: RunStory): 'done' | 'stopped' | 'failed' | 'under way' {
  if (error !== undefined) return 'failed';
  // Freshness alone is no run that could end.
  if (done === undefined) return freshness !== undefined && start === undefined ? 'done' : 'under way';
  return done.interrupted ? 'stopped' : 'done';
}
