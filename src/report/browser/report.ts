/** @file Draws the charts of a report with uPlot: again in another width, in another theme, and to be printed. */
import type uPlotClass from 'uplot';
import type { Chart, ChartSeries } from '../chart.js';

declare const uPlot: typeof uPlotClass;

const HEIGHT = 220;
/** Below this a number is written with digits after the point. */
const WHOLE = 1000;
/** Room of one digit on the axis. */
const DIGIT_PIXELS = 7;

const charts = JSON.parse(document.getElementById('charts')!.textContent!) as Chart[];
const drawn = new Map<string, uPlotClass>();
let isPrinting = false;

const colorOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function short(value: number): string {
  if (Math.abs(value) >= 1e9) return `${trimmed(value / 1e9)}G`;
  if (Math.abs(value) >= 1e6) return `${trimmed(value / 1e6)}M`;
  if (Math.abs(value) >= 1e4) return `${trimmed(value / 1e3)}k`;
  return Math.abs(value) < WHOLE ? String(Number(value.toPrecision(4))) : String(Math.round(value));
}

const trimmed = (value: number): string => String(Number(value.toPrecision(3)));

function written(value: number | null | undefined, unit: Chart['unit']): string {
  if (value === null || value === undefined) return '–';
  if (unit === 'percent') return `${trimmed(value * 100)} %`;
  if (unit === 'bytes') return `${trimmed(value / 2 ** 20)} MiB`;
  return short(value);
}

function seriesOf({ label, color, dots, dashed, faint }: ChartSeries, { kind, unit }: Chart): uPlotClass.Series {
  const stroke = colorOf(`--c${color}`);
  const bars = kind === 'bars' ? { paths: uPlot.paths.bars!({ size: [0.9, 60] }), fill: `${stroke}99` } : {};
  return {
    label,
    stroke: faint ? `${stroke}88` : stroke,
    width: faint ? 1 : 2,
    spanGaps: true,
    ...(dashed && { dash: [6, 4] }),
    points: { show: dots === true, size: 7, fill: stroke },
    value: (_plot, value) => written(value, unit),
    ...bars,
  };
}

/** Lines at the places that stand out, with their names. */
function markPlugin({ marks }: Chart): uPlotClass.Plugin {
  return {
    hooks: {
      draw: (plot) => {
        const { ctx, bbox } = plot;
        ctx.save();
        ctx.strokeStyle = colorOf('--mark');
        ctx.fillStyle = colorOf('--mark');
        ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
        ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
        for (const { x, label } of marks) {
          const at = Math.round(plot.valToPos(x, 'x', true));
          if (at < bbox.left - 1 || at > bbox.left + bbox.width + 1) continue;
          ctx.beginPath();
          ctx.moveTo(at, bbox.top);
          ctx.lineTo(at, bbox.top + bbox.height);
          ctx.stroke();
          const isRight = at > bbox.left + bbox.width * 0.8;
          ctx.textAlign = isRight ? 'right' : 'left';
          ctx.fillText(label, at + (isRight ? -4 : 4) * devicePixelRatio, bbox.top + 12 * devicePixelRatio);
        }
        ctx.restore();
      },
    },
  };
}

function optionsOf(chart: Chart, width: number): uPlotClass.Options {
  const { xLabel, series, kind, range, unit } = chart;
  const axis = { stroke: colorOf('--dim'), grid: { stroke: colorOf('--grid'), width: 1 }, ticks: { show: false } };
  const values = series.flatMap((one) => one.values).filter((value) => value !== null);
  const longest = Math.max(...values.slice(0, 500).map((value) => written(value, unit).length), 4);
  return {
    width,
    height: HEIGHT,
    plugins: [markPlugin(chart)],
    cursor: { sync: { key: xLabel }, drag: { x: kind === 'lines', y: false } },
    scales: {
      x: { time: false, ...(kind === 'bars' && { range: (_plot, least, most) => [least - 0.025, most + 0.025] }) },
      y: range ? { range: [range[0], range[1]] } : kind === 'bars' ? { range: (_plot, _least, most) => [0, most] } : {},
    },
    series: [
      { label: xLabel, value: (_plot, value) => (value == null ? '–' : short(value)) },
      ...series.map((one) => seriesOf(one, chart)),
    ],
    axes: [
      { ...axis, values: (_plot, ticks) => ticks.map(short) },
      {
        ...axis,
        size: 18 + longest * DIGIT_PIXELS,
        values: (_plot, ticks) => ticks.map((tick) => written(tick, unit)),
      },
    ],
  };
}

function draw(chart: Chart): void {
  const place = document.getElementById(`chart-${chart.id}`);
  if (place === null) return;
  drawn.get(chart.id)?.destroy();
  const data = [chart.x, ...chart.series.map(({ values }) => values)] as unknown as uPlotClass.AlignedData;
  drawn.set(chart.id, new uPlot(optionsOf(chart, Math.max(200, place.clientWidth)), data, place));
}

function drawAll(): void {
  for (const chart of charts) draw(chart);
}

drawAll();
let width = innerWidth;
addEventListener('resize', () => {
  if (innerWidth === width || isPrinting) return;
  width = innerWidth;
  drawAll();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
addEventListener('beforeprint', () => {
  isPrinting = true;
  document.documentElement.classList.add('print');
  drawAll();
});
addEventListener('afterprint', () => {
  isPrinting = false;
  document.documentElement.classList.remove('print');
  drawAll();
});
document.documentElement.dataset.drawn = String(charts.length);
