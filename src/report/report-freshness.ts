/** @file Quality by freshness in a report: a table and a plot of what answers are worth by how old the model is. */
import type { Chart, ChartSeries } from './chart.js';
import { type Html, html } from './html.js';
import { htmlTable } from './html-table.js';
import type { RunStory } from './run-story.js';

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The table: a row for each interval, with the runs beside their mean. */
export function freshnessTable({ freshness }: RunStory): Html | undefined {
  if (freshness === undefined) return undefined;
  const { unit, points } = freshness;
  const runs = points[0]!.aucs.map((_, at) => `run ${at + 1}`);
  const rows = points.map(({ interval, aucs }) => [
    String(interval),
    ...[...aucs, mean(aucs)].map((auc) => auc.toFixed(4)),
  ]);
  const heads = [`${unit} between two looks`, ...runs, 'mean AUC'];
  return html`<h2>Quality by freshness</h2>
<p class="dim">${freshnessSentence(freshness)}</p>
${htmlTable(
  heads,
  rows,
  heads.map((_, at) => at),
)}`;
}

/** What it comes to, in a sentence. */
export function freshnessSentence({ unit, points }: NonNullable<RunStory['freshness']>): string {
  const means = points.map(({ aucs }) => mean(aucs));
  const [first, last] = [points[0]!, points.at(-1)!];
  const ordered = means.every((auc, at) => at === 0 || auc <= means[at - 1]!);
  const says = `Servers that look every ${first.interval} ${unit} have AUC ${means[0]!.toFixed(4)}`;
  if (points.length === 1) return `${says}.`;
  const rest = `those that look every ${last.interval} have ${means.at(-1)!.toFixed(4)}`;
  return `${says}, ${rest}; ${ordered ? 'the fresher, the better' : 'fresher is not always better'}.`;
}

/** The plot: AUC over the interval, each run and their mean. */
export function freshnessChart({ freshness }: RunStory): Chart | undefined {
  if (freshness === undefined) return undefined;
  const { unit, points } = freshness;
  const runs = points[0]!.aucs.map(
    (_, at): ChartSeries => ({
      ...{ label: `run ${at + 1}`, color: 1, faint: true },
      values: points.map(({ aucs }) => aucs[at] ?? null),
    }),
  );
  return {
    ...{ id: 'freshness', title: 'Quality by freshness: AUC', kind: 'lines', marks: [] },
    xLabel: `${unit} between two looks`,
    x: points.map(({ interval }) => interval),
    series: [...runs, { label: 'mean', values: points.map(({ aucs }) => mean(aucs)), color: 2, dots: true }],
  };
}
