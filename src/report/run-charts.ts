/** @file The plots of a report, from the events of its run. */
import type { Chart, ChartSeries } from './chart.js';
import { freshnessChart } from './report-freshness.js';
import { bestEval, type RunStory } from './run-story.js';

/** More points than a plot has pixels say nothing. */
const POINTS = 600;
/** Points of a running mean. */
const SMOOTH = 25;

export function chartsOf(story: RunStory): Chart[] {
  return [
    lossChart(story),
    aucChart(story),
    speedChart(story),
    sharesChart(story),
    tableChart(story),
    memoryChart(story),
    histogramChart(story),
    calibrationChart(story),
    rocChart(story),
    freshnessChart(story),
  ].filter((chart) => chart !== undefined);
}

function bestMark(story: RunStory): Chart['marks'] {
  const best = bestEval(story);
  const asked = story.asked.map(({ step, what }) => ({ x: step, label: what }));
  return best === undefined ? asked : [...asked, { x: best.step, label: 'best' }];
}

/** Values of several events over their steps, in the places of all steps. */
function byStep(columns: readonly { readonly points: readonly (readonly [step: number, value: number | null])[] }[]): {
  readonly x: number[];
  readonly values: (number | null)[][];
} {
  const x = [...new Set(columns.flatMap(({ points }) => points.map(([step]) => step)))].sort((a, b) => a - b);
  const places = new Map(x.map((step, place) => [step, place]));
  const values = columns.map(({ points }) => {
    const column = new Array<number | null>(x.length).fill(null);
    for (const [step, value] of points) column[places.get(step)!] = value;
    return column;
  });
  return { x, values };
}

/** Of many points so many, the mean of each part: none that is far off is lost from the mean. */
export function thinned<E extends { readonly step: number }>(events: readonly E[], numberOf: (event: E) => number) {
  const every = Math.max(1, Math.ceil(events.length / POINTS));
  const points: [step: number, value: number][] = [];
  for (let from = 0; from < events.length; from += every) {
    const part = events.slice(from, from + every).filter((event) => Number.isFinite(numberOf(event)));
    if (part.length === 0) continue;
    points.push([part.at(-1)!.step, part.reduce((sum, event) => sum + numberOf(event), 0) / part.length]);
  }
  return points;
}

function smoothed(points: readonly (readonly [number, number])[]): [number, number][] {
  let mean: number | undefined;
  const share = 2 / (Math.min(SMOOTH, points.length / 4) + 1);
  return points.map(([step, value]) => {
    mean = mean === undefined ? value : mean + share * (value - mean);
    return [step, mean];
  });
}

function lossChart(story: RunStory): Chart | undefined {
  const { progress, evals } = story;
  const raw = thinned(progress, ({ loss }) => loss ?? Number.NaN);
  const held = evals.map(({ step, loss }) => [step, loss] as const);
  if (raw.length < 2 && held.length < 2) return undefined;
  const { x, values } = byStep([{ points: raw }, { points: smoothed(raw) }, { points: held }]);
  return {
    ...{ id: 'loss', title: 'Loss', kind: 'lines', xLabel: 'step', x, marks: bestMark(story) },
    series: [
      { label: 'batch', values: values[0]!, color: 1, faint: true },
      { label: 'smoothed', values: values[1]!, color: 1 },
      ...(held.length > 0 ? [{ label: 'held out', values: values[2]!, color: 2, dots: true } as const] : []),
    ],
  };
}

function aucChart(story: RunStory): Chart | undefined {
  const { evals, test } = story;
  const all = evals.filter(({ auc }) => auc !== null).map(({ step, auc }) => [step, auc] as const);
  // What it has before it learnt anything would leave the rest a flat line; the table has it.
  const points = all.length > 2 && all[0]![0] === 0 ? all.slice(1) : all;
  if (points.length === 0) return undefined;
  const { x, values } = byStep([{ points }]);
  const level = (value: number) => x.map(() => value);
  const series: ChartSeries[] = [{ label: 'held out', values: values[0]!, color: 2, dots: true }];
  const average = test?.baseline?.auc ?? null;
  if (average !== null) series.push({ label: 'averages alone', values: level(average), color: 4, dashed: true });
  const ceiling = test?.ceiling ?? null;
  if (ceiling !== null) series.push({ label: 'best that can be', values: level(ceiling), color: 3, dashed: true });
  return { id: 'auc', title: 'AUC', kind: 'lines', xLabel: 'step', x, series, marks: bestMark(story) };
}

function speedChart({ progress }: RunStory): Chart | undefined {
  const points = thinned(progress, ({ examplesPerS }) => examplesPerS);
  if (points.length < 2) return undefined;
  const { x, values } = byStep([{ points }]);
  const series = [{ label: 'mean since the start', values: values[0]!, color: 3 } as const];
  return { id: 'speed', title: 'Examples per second', kind: 'lines', xLabel: 'step', x, series, marks: [] };
}

function sharesChart({ times }: RunStory): Chart | undefined {
  if (times.length === 0) return undefined;
  const names = ['kernels', 'waits', 'javascript'] as const;
  const { x, values } = byStep(
    names.map((name) => ({ points: times.map((time) => [time.step, time[name]] as const) })),
  );
  const titles = ['kernels', 'waiting', 'JavaScript'];
  const series = names.map((_, at) => ({
    ...{ label: titles[at]!, values: values[at]!, dots: true, color: (at + 1) as 1 | 2 | 3 },
  }));
  const title = 'Where the time of a step goes';
  return { id: 'shares', title, kind: 'lines', xLabel: 'step', x, series, marks: [], range: [0, 1], unit: 'percent' };
}

function tableChart({ tables }: RunStory): Chart | undefined {
  if (tables.length === 0) return undefined;
  const { x, values } = byStep([{ points: tables.map(({ step, rows }) => [step, rows] as const) }]);
  const series = [{ label: 'rows', values: values[0]!, color: 1, dots: true } as const];
  return { id: 'rows', title: 'Rows of tables', kind: 'lines', xLabel: 'step', x, series, marks: [] };
}

function memoryChart({ tables }: RunStory): Chart | undefined {
  if (tables.length === 0) return undefined;
  const { x, values } = byStep([
    { points: tables.map(({ step, rss }) => [step, rss] as const) },
    { points: tables.map(({ step, bytes }) => [step, bytes] as const) },
  ]);
  const series: ChartSeries[] = [
    { label: 'process', values: values[0]!, color: 4, dots: true },
    { label: 'tables', values: values[1]!, color: 1, dots: true },
  ];
  return { id: 'memory', title: 'Memory', kind: 'lines', xLabel: 'step', x, series, marks: [], unit: 'bytes' };
}

function histogramChart({ test }: RunStory): Chart | undefined {
  if (test === undefined) return undefined;
  const { zeros, ones } = test.histogram;
  const total = (counts: readonly number[]) =>
    Math.max(
      1,
      counts.reduce((sum, count) => sum + count, 0),
    );
  const shares = (counts: readonly number[]) => counts.map((count) => count / total(counts));
  const x = zeros.map((_, bin) => (bin + 0.5) / zeros.length);
  const series: ChartSeries[] = [
    { label: 'label 0', values: shares(zeros), color: 1 },
    { label: 'label 1', values: shares(ones), color: 2 },
  ];
  const title = 'Predictions by label';
  return { id: 'histogram', title, kind: 'bars', xLabel: 'prediction', x, series, marks: [], unit: 'percent' };
}

function calibrationChart({ test }: RunStory): Chart | undefined {
  if (test === undefined) return undefined;
  const points = [...new Map(test.deciles.map(({ predicted, found }) => [predicted, found])).entries()];
  const x = [0, ...points.map(([predicted]) => predicted), 1].sort((a, b) => a - b);
  const found = new Map(points);
  const series: ChartSeries[] = [
    { label: 'found', values: x.map((at) => found.get(at) ?? null), color: 1, dots: true },
    { label: 'as predicted', values: x, color: 3, dashed: true, faint: true },
  ];
  const title = 'Calibration: ten parts of equal size';
  return { id: 'calibration', title, kind: 'lines', xLabel: 'mean prediction', x, series, marks: [], range: [0, 1] };
}

function rocChart({ test }: RunStory): Chart | undefined {
  if (test === undefined || test.auc === null) return undefined;
  const best = new Map<number, number>();
  for (const [falses, trues] of test.roc) best.set(falses, Math.max(trues, best.get(falses) ?? 0));
  const x = [...best.keys()].sort((a, b) => a - b);
  const series: ChartSeries[] = [
    { label: 'true positives', values: x.map((at) => best.get(at)!), color: 2 },
    { label: 'by chance', values: x, color: 3, dashed: true, faint: true },
  ];
  const title = 'ROC';
  return { id: 'roc', title, kind: 'lines', xLabel: 'false positives', x, series, marks: [], range: [0, 1] };
}
