/** @file Cases of save_utils: those of savers, of the saver hook and of its timer. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { restoreSession } from '../../../src/checkpoint/restore-session.js';
import { saveCheckpoint } from '../../../src/checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../../src/checkpoint/session-snapshot.js';
import { Graph, type Op } from '../../../src/graph/graph.js';
import { globalStep, increment, raggedPlaceholder, variable } from '../../../src/graph/ops/state.js';
import { defineTable } from '../../../src/sparse/config/table-config.js';
import { embeddingLookup } from '../../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../../src/sparse/table/hash-table.js';
import { CheckpointSaverHook, type CheckpointSaverOptions } from '../../../src/train/hooks/checkpoint-saver.js';
import { SecondOrStepTimerWithTideSetting } from '../../../src/train/hooks/tide-timer.js';
import { MonitoredSession } from '../../../src/train/monitored-session.js';
import { openSession } from '../../runtime/with-session.js';
import { FakeClock } from '../../support/fake-clock.js';
import { type Fields, type ParityCase, type ParityHandlers, UnknownForm } from '../case.js';

import { failure, SAVER_CASES } from '../saver-cases.js';

/** A training of some steps with the hook; the files it left. */
async function trained(count: number, options: Partial<CheckpointSaverOptions>, trigger = false): Promise<string[]> {
  const dir = mkdtempSync(join(tmpdir(), 'save-utils-'));
  const graph = new Graph();
  const step = increment(globalStep(graph)) as Op;
  const saver = new CheckpointSaverHook({ modelDir: dir, modelName: 'm', ...options });
  const hooks = [
    saver,
    ...(trigger
      ? [{ afterRun: (context: Parameters<CheckpointSaverHook['triggerSave']>[0]) => saver.triggerSave(context) }]
      : []),
  ];
  try {
    const monitored = await MonitoredSession.create({
      graph,
      hooks,
      createSession: () => openSession(graph, { threads: 1 }),
    });
    try {
      for (let i = 0; i < count; i++) await monitored.run([step]);
      if (trigger) return readdirSync(dir);
    } finally {
      await monitored.close();
    }
    return readdirSync(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const matching = (files: readonly string[], pattern: string) =>
  files.filter((name) => name.startsWith(pattern.slice(0, -1)));
const seen = (files: readonly string[], expected: Fields) =>
  (expected.at_least_one as string[]).filter((pattern) => matching(files, pattern).length > 0);

async function guardCase(): Promise<unknown> {
  let [attempts, called] = [0, false];
  const failing = {
    beforeSave: () => {
      attempts++;
      throw new Error('raised');
    },
  };
  const guard = {
    afterSave: () => {
      called = true;
    },
  };
  const error = await failure(() =>
    trained(0, {
      listeners: [failing],
      guardListeners: [guard],
      ignoreSaveErrors: true,
      noFirstSave: false,
      onSaveFailed: () => undefined,
    }),
  );
  // The first save and the last one are of the same step: the last is tried again, since it is not saved.
  return { guard_after_save_called: called, error_surfaces: error !== 'no error', attempts: attempts / 2 };
}

async function namedValues({ values, table, overwrite_before_restore: other }: Fields): Promise<unknown> {
  const dir = mkdtempSync(join(tmpdir(), 'save-utils-'));
  const graph = new Graph();
  const names = Object.keys(values as Fields);
  for (const name of names) variable(graph, { name, shape: [], initial: () => new Float32Array(1) });
  const config = defineTable('t', [{ dim: 1 }]);
  embeddingLookup(raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 }), config);
  const session = await openSession(graph, { threads: 1, schema: [{ name: 'ids', kind: 'ragged' }] });
  const rows = HashTable.of(session, config);
  const write = (from: Fields) => {
    for (const name of names) session.writeVariable(name, Float32Array.of(Number(from[name])));
  };
  const keys = Object.keys(table as Fields);
  try {
    write(values as Fields);
    for (const [i, key] of keys.entries()) rows.assign([BigInt(i)], Float32Array.of(Number((table as Fields)[key])));
    await saveCheckpoint(dir, snapshotSession(session, 'm'));
    write(other as Fields);
    rows.clear();
    await restoreSession(session, dir);
    const found = keys.map((key, i) => {
      const out = new Float32Array(1);
      rows.lookup([BigInt(i)], out);
      return [key, out[0]];
    });
    return {
      restored: Object.fromEntries(names.map((name) => [name, session.readVariable(name)[0]])),
      table: Object.fromEntries(found),
    };
  } finally {
    await session.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function timer({
  every_secs: everySecs,
  tide,
  now,
  last_triggered_step: last,
  checks,
}: Fields): Promise<unknown> {
  const clock = new FakeClock(Date.parse(String(now)));
  const hours = (text: unknown) => String(text).split(':').map(Number) as [number, number];
  const given = tide as Fields | undefined;
  const window = given && {
    tide: {
      startHour: hours(given.start)[0],
      startMinute: hours(given.start)[1],
      endHour: hours(given.end)[0],
      endMinute: hours(given.end)[1],
    },
    tideEverySecs: Number(given.every_secs),
  };
  const made = new SecondOrStepTimerWithTideSetting({ everySecs: Number(everySecs), ...window, clock });
  made.updateLastTriggeredStep(Number(last));
  let elapsed = 0;
  return (checks as Fields[]).map((check) => {
    clock.advance((Number(check.elapsed) - elapsed) * 1000);
    elapsed = Number(check.elapsed);
    return made.shouldTriggerForStep(Number(check.step));
  });
}

const CASES: typeof SAVER_CASES = {
  ...SAVER_CASES,
  'first save skipped, save on close': async ({ steps_run, save_steps }, expected) => {
    const files = await trained(Number(steps_run), { everySteps: Number(save_steps) });
    const counts = Object.keys(expected.files_matching as Fields).map((pattern) => [
      pattern,
      matching(files, pattern).length,
    ]);
    return { files_matching: Object.fromEntries(counts), at_least_one: seen(files, expected) };
  },
  'guard listener called although saving fails': guardCase,
  'explicit trigger saves at once': async ({ steps_run }, expected) => {
    return { at_least_one: seen(await trained(Number(steps_run), {}, true), expected) };
  },
  'save and restore named values': (input) => namedValues(input),
  'timer without tide': (input) => timer(input),
  'timer inside the tide window': (input) => timer(input),
};

function saveUtils({ case: name, input, expected }: ParityCase): unknown {
  const run = CASES[name];
  if (run === undefined) throw new UnknownForm(name);
  return run(input as Fields, (expected ?? {}) as Fields);
}

export const handlers: ParityHandlers = { save_utils: saveUtils };
