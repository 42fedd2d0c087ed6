/** @file Quality by freshness, kept with the events of a run: a table and a plot of its report. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { CHARTS_ID, type Chart } from '../../../src/report/chart.js';
import { readEvents } from '../../../src/report/event-lines.js';
import { reportPage } from '../../../src/report/report-page.js';
import { reportFreshness } from '../../../src/serve/fresh/report-freshness.js';
import { madeRun } from '../../report/made-run.js';

const points = [
  { interval: 1, aucs: [0.66, 0.64] },
  { interval: 8, aucs: [0.53, 0.51] },
  { interval: 32, aucs: [0.3, 0.28] },
];
const CHARTS = new RegExp(`<script type="application/json" id="${CHARTS_ID}">(.*?)</script>`, 's');
const chartsOf = (page: string) => JSON.parse(CHARTS.exec(page)![1]!) as Chart[];
const textOf = (page: string) =>
  page
    .replace(/<(style|script)\b.*?<\/\1>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

t.test('a folder gets a report with the table, the plot and a sentence', async (t) => {
  const dir = join(t.testdir(), 'drift');
  const file = await reportFreshness(dir, { points });
  t.equal(file, join(dir, 'report.html'));
  const page = readFileSync(file, 'utf8');
  t.match(
    textOf(page),
    /steps between two looks run 1 run 2 mean AUC 1 0\.6600 0\.6400 0\.6500 8 0\.5300 0\.5100 0\.5200/,
  );
  t.match(
    textOf(page),
    /look every 1 steps have AUC 0\.6500, those that look every 32 have 0\.2900; the fresher, the better/,
  );
  t.notMatch(textOf(page), /did not come to an end|under way/, 'there was no run that could have ended');
  const [chart, ...others] = chartsOf(page);
  t.same(others, []);
  t.match(chart, { id: 'freshness', kind: 'lines', xLabel: 'steps between two looks', x: [1, 8, 32] });
  t.same(
    chart!.series.map(({ label, values }) => [label, values.map((value) => Number(value!.toFixed(6)))]),
    [
      ['run 1', [0.66, 0.53, 0.3]],
      ['run 2', [0.64, 0.51, 0.28]],
      ['mean', [0.65, 0.52, 0.29]],
    ],
  );
  await reportFreshness(dir, { unit: 'minutes', points: points.slice(0, 1) });
  t.match(textOf(readFileSync(file, 'utf8')), /every 1 minutes have AUC 0\.6500\./, 'the last one counts');
  t.equal(readEvents(dir).length, 2);
});

t.test('it stands beside the plots of a run, and says where the order does not hold', async (t) => {
  const event = {
    event: 'freshness',
    unit: 'steps',
    points: points.toReversed().map((point, at) => ({ ...point, interval: at + 1 })),
  } as const;
  const page = reportPage([...madeRun(), { ...event, atMs: 0 }]);
  t.equal(chartsOf(page).length, 10);
  t.match(textOf(page), /deepfm learnt for 4 epochs/);
  t.match(textOf(page), /fresher is not always better/);
});

t.test('what is no result is refused, and nothing is written', async (t) => {
  const dir = join(t.testdir(), 'none');
  const bad: readonly (readonly [object, RegExp])[] = [
    [{ points: [] }, /there are no points/],
    [{ points: points.toReversed() }, /intervals are above zero and ascend/],
    [{ points: [{ interval: 0, aucs: [0.5] }] }, /above zero/],
    [{ points: [{ interval: 1, aucs: [] }] }, /not 1 numbers from 0 to 1/],
    [{ points: [{ interval: 1, aucs: [Number.NaN] }] }, /not 1 numbers from 0 to 1/],
    [{ points: [points[0], { interval: 8, aucs: [0.5] }] }, /not 2 numbers from 0 to 1/],
    [{ point: [] }, /there is no option point/],
  ];
  for (const [result, message] of bad) {
    await t.rejects(reportFreshness(dir, result as never), { code: 'ML_OPTION', message });
  }
  t.throws(() => readEvents(dir), { code: 'ML_FILE_READ' });
});
