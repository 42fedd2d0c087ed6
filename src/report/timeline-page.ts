/** @file A trace as one page: threads, kernels and queues over time, and the summary beside it. */
import { shareText, wholeText } from '../base/number-text.js';
import type { ChromeTrace } from '../trace/read-chrome-trace.js';
import { type OpSummary, summarizeChromeTrace, type TraceSummary } from '../trace/trace-summary.js';
import { type Html, html, jsonScript } from './html.js';
import { htmlTable } from './html-table.js';
import { packTimeline } from './pack-timeline.js';
import { pageText } from './page.js';
import { COLUMNS_ID, TIMELINE_ID } from './timeline.js';

/** Rows of the table of ops; the rest is small. */
const OPS = 40;

export function timelinePage(trace: ChromeTrace, title: string): string {
  const { header, columns } = packTimeline(trace);
  const summary = summarizeChromeTrace(trace);
  const body = html`<header>
<h1>${title}</h1>
<label>find <input id="find" type="search" placeholder="part of a name" autocomplete="off" spellcheck="false"></label>
<output id="found"></output>
<button id="all" type="button">whole trace</button>
<span class="dim">wheel or W S: zoom · drag or A D: move · click: what it is · Enter: next one found</span>
</header>
<div class="parts">
<div id="view" tabindex="0"><canvas id="canvas"></canvas><div id="tip" hidden></div></div>
<aside>
<section id="picked" class="dim">Click a span to see what it is.</section>
${summaryTables(summary)}
<p class="dim">${wholeText(header.spans)} spans, ${wholeText(header.samples)} samples of counters.</p>
</aside>
</div>
<noscript><p>The timeline needs JavaScript; the summary does not.</p></noscript>
${jsonScript(TIMELINE_ID, header)}
${jsonScript(COLUMNS_ID, columns)}`;
  return pageText({
    title: `${title} · monolith trace`,
    styles: ['base.css', 'timeline.css'],
    scripts: ['timeline.js'],
    body,
  });
}

function summaryTables(summary: TraceSummary): Html {
  const { wallMs, steps, threads, ops, waitTotals, counters, lost } = summary;
  const ms = (value: number) => value.toFixed(value < 100 ? 2 : 0);
  const opRow = ({ name, category, count, selfMs, share }: OpSummary) => [
    html`<button type="button" class="name" data-name="${name}">${name}</button>`,
    category,
    wholeText(count),
    ms(selfMs),
    shareText(share),
  ];
  const shares =
    steps &&
    html`<p>Steps: kernels ${shareText(steps.kernels)}, waits ${shareText(steps.waits)}, JavaScript
${shareText(steps.javascript)}</p>`;
  const missing = lost > 0 && html`<p class="dim">${wholeText(lost)} older events were overwritten.</p>`;
  const opHeads = ['name', 'kind', 'count', 'self ms', 'share'];
  const threadRows = threads.map(({ name, utilisation, busyMs, waitMs }) => {
    return [name, shareText(utilisation), ms(busyMs), ms(waitMs)];
  });
  const number = (value: number) => String(Number(value.toPrecision(5)));
  const counterRows = counters.map(({ name, min, mean, max }) => [name, number(min), number(mean), number(max)]);
  return html`<h2>${ms(wallMs)} ms</h2>
${shares}${missing || null}
<h2>Threads</h2>
${htmlTable(['thread', 'used', 'busy ms', 'wait ms'], threadRows, [1, 2, 3])}
<h2>Time by op</h2>
${htmlTable(opHeads, ops.slice(0, OPS).map(opRow), [2, 3, 4])}
<h2>Waits</h2>
${htmlTable(opHeads, waitTotals.slice(0, OPS).map(opRow), [2, 3, 4])}
${counterRows.length > 0 ? html`<h2>Counters</h2>\n` : null}${
  counterRows.length > 0 ? htmlTable(['counter', 'least', 'mean', 'most'], counterRows, [1, 2, 3]) : null
}`;
}
