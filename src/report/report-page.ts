/** @file `report.html`: what a run came to, from its events alone, as one file that needs nothing else. */
import type { KeptEvent } from '../recipe/run-event.js';
import { CHARTS_ID, type Chart, EVENTS_ID } from './chart.js';
import { jsonEvents } from './event-lines.js';
import { html, jsonScript } from './html.js';
import { pageText } from './page.js';
import { again } from './report-again.js';
import { freshnessTable } from './report-freshness.js';
import * as parts from './report-tables.js';
import { chartsOf } from './run-charts.js';
import { endOf, storyOf } from './run-story.js';

/** The file of a run's folder that people open. */
export const REPORT_FILE = 'report.html';
/** Points of progress that the page keeps: the plots show no more. */
const PROGRESS_MAX = 2000;

export function reportPage(events: readonly KeptEvent[]): string {
  const story = storyOf(events);
  const charts = chartsOf(story);
  const name = parts.runName(story);
  const state = endOf(story);
  const body = html`<main>
<h1>${name}${state === 'done' ? '' : html` <span class="dim">${state}</span>`}</h1>
<p class="says">${parts.sentence(story)}</p>
${parts.words(story)}${parts.numbers(story)}
<h2>Plots</h2>
<noscript><p class="dim">The plots need JavaScript; their numbers are in the tables below.</p></noscript>
<div class="charts">
${charts.map(figure)}</div>
${parts.evaluations(story)}
${parts.deciles(story)}
${freshnessTable(story)}
${parts.features(story)}
${parts.tableSizes(story)}
${parts.threads(story)}
${again(story)}
<footer>Made by monolith-ts from the events of the run, which are in this page. Plots: uPlot, MIT licence.</footer>
</main>
${jsonScript(CHARTS_ID, charts)}
${jsonScript(EVENTS_ID, jsonEvents(fewer(events)))}`;
  return pageText({
    title: `${name} · monolith`,
    styles: ['base.css', 'uPlot.css', 'report.css'],
    scripts: ['uPlot.js', 'report.js'],
    body,
  });
}

const figure = ({ id, title }: Chart) =>
  html`<figure><figcaption>${title}</figcaption><div id="chart-${id}"></div></figure>\n`;

/** All events but progress, and of that every so many. */
function fewer(events: readonly KeptEvent[]): KeptEvent[] {
  const count = events.filter(({ event }) => event === 'progress').length;
  const every = Math.max(1, Math.ceil(count / PROGRESS_MAX));
  let seen = 0;
  return events.filter(({ event }) => event !== 'progress' || ++seen % every === 0 || seen === count);
}
