/** @file Events of a run that never was, with all that reports show; names and values as hostile as is asked for. */
import type { DataEvent, DoneEvent, KeptEvent, RunEvent, RunRecord, TestEvent } from '../../src/recipe/run-event.js';

export interface MadeRun {
  /** Steps of progress. */
  readonly steps?: number;
  /** The name of the first column, of the data and of values. */
  readonly name?: string;
  readonly end?: 'done' | 'failed' | 'cut off';
}

const BINS = 20;
const EPOCH = 100;

export function madeRun({ steps = 400, name = 'userId', end = 'done' }: MadeRun = {}): KeptEvent[] {
  const events: RunEvent[] = [
    { event: 'run', ...record(name) },
    data(name),
    {
      event: 'split',
      by: 'row',
      train: 8000,
      validation: 1000,
      test: 1000,
      unseen: { [name]: 0.033 },
      once: { [name]: 0.125 },
      cut: null,
      drift: { price: { held: 0.31, last: null }, [name]: { held: 0.02, last: 0.01 } },
    },
    { event: 'model', name: 'deepfm', ids: 123, text: 'deepfm  2 columns of ids' },
    start(steps),
  ];
  for (let step = 1; step <= steps; step++) {
    events.push({
      ...{ event: 'progress', step, endStep: steps, loss: 0.4 + 0.3 / step, stepsPerS: 100 },
      ...{ examplesPerS: 25_600, etaS: (steps - step) / 100 },
    });
    if (step % EPOCH === 0) events.push(...epoch(step, name));
  }
  events.push({ event: 'warning', code: 'ML_LABEL', message: `column "${name}" alone predicts the label` });
  if (end === 'failed') {
    events.push({ event: 'error', code: 'ML_MEMORY', message: `no room for ${name}`, hint: 'take --table-memory' });
  }
  if (end === 'done') {
    const seconds = steps / 100;
    events.push(
      {
        ...{ event: 'trained', step: steps, epochs: steps / EPOCH, bestStep: EPOCH, stoppedBy: 'early stop' },
        ...{ seconds, examplesPerS: 25_600 },
      },
      tested(),
      finished(steps, seconds),
    );
  }
  return events.map((event, index) => ({ ...event, atMs: index * 10 }));
}

const record = (name: string): RunRecord => ({
  started: '2030-01-02T03:04:05.000Z',
  command: ['monolith', 'train', '--data', `${name}.csv`, '--label', 'click'],
  settings: {
    seed: { value: 7, origin: 'flag --seed' },
    data: { value: `${name}.csv`, origin: 'flag --data' },
    epochs: { value: 10, origin: 'default' },
  },
  ...{ version: '1.2.3', module: null, node: 'v20.0.0', commit: 'abc123', folder: '/somewhere' },
  machine: { cpu: 'a processor', cores: 2, memory: 8 * 2 ** 30, system: 'linux 6' },
});

function data(name: string): DataEvent {
  const column = { distinct: 60, more: false, missing: 0.25, least: null, most: null, mean: null };
  return {
    ...{ event: 'data', source: `${name}.csv`, rows: 10_000, looked: 10_000, sides: [], label: 'click is 1' },
    files: [{ file: `${name}.csv`, bytes: 123_456, modified: '2030-01-01T00:00:00.000Z', notes: ['csv'] }],
    columns: [
      { ...column, name, type: 'text', role: 'id', top: [{ value: name, share: 0.5 }] },
      { ...column, name: 'price', type: 'num', role: 'number', least: 0, most: 9.5, mean: 3, log: true, top: [] },
      { ...column, name: 'note', type: 'text', role: 'none', why: `another one in every row of ${name}`, top: [] },
      { ...column, name: 'click', type: 'int', role: 'label', top: [] },
    ],
    ...{ labelColumn: 'click', positive: 0.3, badRows: 0, badRowExamples: [] },
  };
}

const start = (endStep: number): RunEvent => ({
  ...{ event: 'start', model: 'deepfm', backend: 'wasm', backendWhy: null, device: 'a processor', kernels: 'plain' },
  ...{ threads: 2, batchSize: 256, startStep: 0, endStep, modelDir: 'runs/made', restored: null },
});

function epoch(step: number, name: string): RunEvent[] {
  const each = [{ name, rows: 60 + step, bytes: 9000, dim: 17 }];
  const auc = 0.8 - Math.abs(step - EPOCH) / 10_000;
  return [
    { event: 'eval', step, auc, loss: 0.5, examples: 1000, metrics: {}, ms: 3 },
    { event: 'tables', step, rows: 60 + step, bytes: 9000, rss: 2 ** 27, each },
    {
      ...{ event: 'time', step, kernels: 0.7, waits: 0.2, javascript: 0.1 },
      threads: [{ name: 'pool 0', busy: 0.7, waiting: 0.2 }],
    },
  ];
}

function tested(): TestEvent {
  const zeros = Array.from({ length: BINS }, (_, bin) => BINS - bin);
  return {
    ...{
      event: 'test',
      gauc: { column: 'userId', value: 0.72 },
      step: EPOCH,
      auc: 0.7941,
      loss: 0.5123,
      examples: 1000,
      calibration: 1.02,
      ceiling: 0.85,
    },
    baseline: { auc: 0.7783, loss: 0.55, columns: ['userId'] },
    histogram: { zeros, ones: [...zeros].reverse() },
    deciles: Array.from({ length: 10 }, (_, at) => ({ predicted: (at + 0.5) / 10, found: at / 10, rows: 100 })),
    roc: Array.from({ length: 11 }, (_, at) => [at / 10, Math.sqrt(at / 10)] as const),
  };
}

const finished = (step: number, seconds: number): DoneEvent => ({
  ...{ event: 'done', step, loss: 0.41, auc: 0.7941, evalLoss: 0.5123, baselineAuc: 0.7783, epochs: step / EPOCH },
  ...{ bestStep: EPOCH, seconds, examplesPerS: 25_600, stepsPerS: 100, threads: 2, backend: 'wasm' },
  ...{ checkpoint: 'runs/made/best/model.ckpt-100', modelDir: 'runs/made', report: null, trace: null },
  ...{ stoppedBy: 'early stop', interrupted: false },
});
