/** @file What two runs say of themselves: figures of their ends, and the settings in which they differ. */
import type { RunRecord } from '../recipe/run-event.js';
import { readEvents } from '../report/event-lines.js';
import { readRunRecord } from '../report/run-folder.js';

export interface ComparedRun {
  readonly dir: string;
  readonly events: ReturnType<typeof readEvents>;
  readonly record: RunRecord | null;
}

export interface Figures {
  readonly auc: number | null;
  readonly loss: number | null;
  readonly examplesPerS: number | null;
  readonly step: number | null;
}

export const comparedRun = (dir: string): ComparedRun => ({
  dir,
  events: readEvents(dir),
  record: dir.endsWith('.jsonl') || dir.endsWith('.html') ? null : readRunRecord(dir),
});

/** The end of the last training in the folder. */
export function figuresOf({ events }: ComparedRun): Figures {
  const test = events.findLast((event) => event.event === 'test');
  const done = events.findLast((event) => event.event === 'done');
  return {
    auc: (test?.event === 'test' ? test.auc : null) ?? (done?.event === 'done' ? done.auc : null),
    loss: (test?.event === 'test' ? test.loss : null) ?? (done?.event === 'done' ? done.evalLoss : null),
    examplesPerS: done?.event === 'done' ? done.examplesPerS : null,
    step: test?.event === 'test' ? test.step : null,
  };
}

export interface Difference {
  readonly name: string;
  readonly values: readonly [string, string];
}

/** Settings that say nothing of the model. */
const LEFT_OUT = new Set(['modelDir', 'json', 'quiet', 'verbose', 'report', 'trace']);

/** Settings that are not the same, the model among them. */
export function differing(a: ComparedRun, b: ComparedRun): Difference[] {
  const of = ({ record }: ComparedRun, name: string) => record?.settings[name]?.value ?? null;
  const names = new Set([a, b].flatMap(({ record }) => Object.keys(record?.settings ?? {})));
  return [...names].flatMap((name): Difference[] => {
    if (LEFT_OUT.has(name)) return [];
    const [left, right] = [text(of(a, name)), text(of(b, name))];
    return left === right ? [] : [{ name, values: [left, right] }];
  });
}

const text = (value: unknown): string =>
  value === null ? '-' : typeof value === 'object' ? JSON.stringify(value) : String(value);
