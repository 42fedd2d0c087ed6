/** @file The parts of a report that are words and tables, which need no script. */
import { bytesText, counted, durationText, lossText, rateText, shareText, wholeText } from '../base/number-text.js';
import type { ColumnFound, Drift } from '../recipe/run-event.js';
import { type Html, html } from './html.js';
import { htmlTable } from './html-table.js';
import { freshnessSentence } from './report-freshness.js';
import { bestEval, endOf, type RunStory } from './run-story.js';

const aucText = (auc: number | null | undefined): string => (auc == null ? '–' : auc.toFixed(4));

/** The name of the run: what it learnt from. */
export function runName({ data, run, start, freshness }: RunStory): string {
  return data?.source ?? run?.module ?? start?.model ?? (freshness === undefined ? 'a run' : 'Freshness');
}

/** What came out, in a sentence or two. */
export function sentence(story: RunStory): string {
  const { trained, test, error, split, evals, progress, freshness } = story;
  const name = story.start?.model ?? story.model?.name ?? 'The model';
  const steps = progress.at(-1)?.step ?? evals.at(-1)?.step ?? 0;
  const parts: string[] = [];
  if (error !== undefined) {
    parts.push(`${name} failed${steps > 0 ? ` after step ${wholeText(steps)}` : ''}: ${error.code}.`);
  } else if (trained === undefined && freshness !== undefined && story.start === undefined) {
    parts.push(freshnessSentence(freshness));
  } else if (trained === undefined) {
    parts.push(`${name} was at step ${wholeText(steps)} when this was written; the run did not come to an end.`);
  } else {
    const { epochs, stoppedBy } = trained;
    const long = epochs > 0 ? counted(Number(epochs.toFixed(2)), 'epoch') : `${wholeText(trained.step)} steps`;
    const why =
      stoppedBy === 'signal' ? ', and was stopped' : stoppedBy === 'early stop' ? ', until it got no better' : '';
    const best = trained.bestStep === null ? '' : `; step ${wholeText(trained.bestStep)} is the best`;
    parts.push(`${name} learnt for ${long}${why}${best}.`);
  }
  if (test !== undefined) {
    const beside = test.baseline?.auc == null ? '' : `; averages of ids alone have ${aucText(test.baseline.auc)}`;
    const best = test.ceiling === null ? '' : `, and nothing can have more than ${aucText(test.ceiling)}`;
    parts.push(
      `AUC ${aucText(test.auc)} on ${wholeText(test.examples)} rows that were held out and chose nothing` +
        `${beside}${best}.`,
    );
  } else {
    const best = bestEval(story);
    const rows = split === undefined ? '' : ` on ${wholeText(split.validation)} rows that were held out`;
    if (best !== undefined)
      parts.push(`The best so far is step ${wholeText(best.step)}: AUC ${aucText(best.auc)}${rows}.`);
  }
  return parts.join(' ');
}

/** The numbers people look for first. */
export function numbers(story: RunStory): Html {
  const { test, trained, split, tables, done } = story;
  const best = bestEval(story);
  const items: [name: string, value: string, more: string][] = [];
  if (test !== undefined) {
    items.push(['AUC', aucText(test.auc), `${wholeText(test.examples)} rows held out`]);
    items.push(['log loss', lossText(test.loss), 'held out']);
    if (test.gauc?.value != null) items.push(['GAUC', aucText(test.gauc.value), `within each ${test.gauc.column}`]);
    if (test.calibration !== null) items.push(['calibration', test.calibration.toFixed(3), 'predicted over found']);
    if (test.baseline !== null) {
      items.push(['averages alone', aucText(test.baseline.auc), `AUC; log loss ${lossText(test.baseline.loss)}`]);
    }
    if (test.ceiling !== null) items.push(['best that can be', aucText(test.ceiling), 'AUC of who drew the labels']);
  } else if (best !== undefined) {
    items.push(
      ['AUC', aucText(best.auc), `step ${wholeText(best.step)}`],
      ['log loss', lossText(best.loss), 'held out'],
    );
  }
  const loss = done?.loss ?? story.progress.at(-1)?.loss;
  if (loss != null) items.push(['loss in training', lossText(loss), 'last batch']);
  if (split !== undefined) items.push(['rows', wholeText(split.train), `trained on; ${wholeText(split.test)} report`]);
  if (trained !== undefined) {
    items.push(['time', durationText(trained.seconds), `${rateText(trained.examplesPerS)} examples/s`]);
  }
  const rows = tables.at(-1);
  if (rows !== undefined) items.push(['table rows', wholeText(rows.rows), bytesText(rows.bytes)]);
  return html`<dl class="numbers">
${items.map(([name, value, more]) => html`<div><dt>${name}</dt><dd>${value}<small>${more}</small></dd></div>\n`)}</dl>`;
}

/** What went wrong, or may have. */
export function words(story: RunStory): Html {
  const { error, warnings, notes, asked } = story;
  const state = endOf(story);
  const running =
    state === 'under way' ? 'It is not known how this run ended: it is under way, or was ended at once.' : '';
  return html`${
    error &&
    html`<p class="note error"><b>${error.code}</b> ${error.message}${error.hint && html`<br>${error.hint}`}</p>\n`
  }${running && html`<p class="note">${running}</p>\n`}${warnings.map(
    ({ code, message }) => html`<p class="note warning"><b>${code}</b> ${message}</p>\n`,
  )}${notes.map(({ message }) => html`<p class="note">${message}</p>\n`)}${asked.map(
    ({ step, what }) => html`<p class="note">asked at step ${step}: ${what}</p>\n`,
  )}`;
}

export function evaluations(story: RunStory): Html | undefined {
  if (story.evals.length === 0) return undefined;
  const best = bestEval(story)?.step;
  const rows = story.evals.map(({ step, auc, loss, examples }) => {
    return [wholeText(step), aucText(auc), lossText(loss), wholeText(examples), step === best ? 'best' : ''];
  });
  return html`<h2>Evaluations</h2>\n${htmlTable(['step', 'AUC', 'loss', 'rows', ''], rows, [0, 1, 2, 3])}`;
}

export function deciles({ test }: RunStory): Html | undefined {
  if (test === undefined) return undefined;
  const rows = test.deciles.map(({ predicted, found, rows }) => {
    return [predicted.toFixed(4), found.toFixed(4), wholeText(rows)];
  });
  return html`<h3>Ten parts of the held-out rows, by prediction</h3>
${htmlTable(['mean prediction', 'share of label 1', 'rows'], rows, [0, 1, 2])}`;
}

export function features({ data, split }: RunStory): Html | undefined {
  if (data === undefined) return undefined;
  const { unseen = {}, drift = {} } = split ?? {};
  const rows = data.columns.map((column) => [
    column.name,
    column.type,
    html`<span class="role">${column.role}</span>${reason(column, data.label)}`,
    `${wholeText(column.distinct)}${column.more ? '+' : ''}`,
    column.missing > 0 ? shareText(column.missing) : '',
    unseen[column.name] === undefined ? '' : shareText(unseen[column.name]!),
    driftText(drift[column.name]?.held),
    driftText(drift[column.name]?.last),
    column.least === null ? '' : `${shortNumber(column.least)} … ${shortNumber(column.most ?? column.least)}`,
    column.top.map(({ value, share }) => `${value.slice(0, 40)} (${shareText(share)})`).join(', '),
  ]);
  const heads = [
    'column',
    'type',
    'role',
    'distinct',
    'missing',
    'new in test',
    'drift held out',
    'drift in training',
    'range',
    'most frequent',
  ];
  return html`<h2>Columns</h2>
<p class="dim">Label: ${data.label}; ${shareText(data.positive)} of ${wholeText(data.rows)} rows are 1.
Counted in the first ${wholeText(data.looked)} rows.${badRows(data.badRows)}</p>
${driftNote(drift)}${htmlTable(heads, rows, [3, 4, 5, 6, 7])}`;
}

/** From so much on a distribution is another one. */
const DRIFT_LARGE = 0.25;
const driftText = (index: number | null | undefined): string => (index == null ? '' : index.toFixed(2));

/** What drift is, and which columns have it. */
function driftNote(drift: Readonly<Record<string, Drift>>): Html | undefined {
  const all = Object.entries(drift);
  if (all.length === 0) return undefined;
  const moved = all.flatMap(([name, { held, last }]) => (Math.max(held ?? 0, last ?? 0) > DRIFT_LARGE ? [name] : []));
  const warning =
    moved.length > 0 &&
    html`<p class="note warning">Moving away: ${moved.join(', ')}. What was learnt of them ages.</p>\n`;
  return html`<p class="dim">Drift is the population stability index of what is held out against what was trained on,
and of the last tenth of that against its first: below 0.1 is nothing to speak of, above 0.25 it is
another distribution.</p>
${warning || undefined}`;
}

const badRows = (count: number): string =>
  count === 0 ? '' : ` ${wholeText(count)} rows could not be read and were left out.`;

function reason({ role, why, log, split, side }: ColumnFound, label: string): string {
  const from = side === undefined ? '' : ` of ${side}`;
  if (role === 'label') return `: ${label}`;
  if (role === 'none') return why === undefined ? from : `: ${why}${from}`;
  if (role === 'number' && log === true) return `, as its logarithm${from}`;
  return role === 'ids' && split !== undefined ? `, split at ${split}${from}` : from;
}

const shortNumber = (value: number): string => String(Number(value.toPrecision(6)));

export function tableSizes({ tables, split }: RunStory): Html | undefined {
  const last = tables.at(-1)?.each ?? [];
  if (last.length === 0) return undefined;
  const once = split?.once ?? {};
  const rows = last.map(({ name, rows, bytes, dim }) => [
    ...[name, wholeText(rows), wholeText(dim), bytesText(bytes)],
    once[name] === undefined ? '' : shareText(once[name]),
  ]);
  const heads = ['table', 'rows', 'floats a row', 'bytes', 'ids seen once'];
  return html`<h2>Tables</h2>\n${htmlTable(heads, rows, [1, 2, 3, 4])}`;
}

/** Where the time of the last steps went, by thread. */
export function threads({ times }: RunStory): Html | undefined {
  const last = times.at(-1);
  if (last === undefined) return undefined;
  const bar = (share: number, kind: string) =>
    html`<span class="bar ${kind}" style="width:${Math.round(share * 160)}px"></span>`;
  const rows = last.threads.map(({ name, busy, waiting }) => [
    name,
    shareText(busy),
    shareText(waiting),
    html`${bar(busy, 'busy')}${bar(waiting, 'waits')}`,
  ]);
  const { kernels, waits, javascript } = last;
  const parts = `kernels ${shareText(kernels)}, waiting ${shareText(waits)}, JavaScript ${shareText(javascript)}`;
  return html`<h2>Time</h2>
<p class="dim">The threads that compute, up to step ${wholeText(last.step)}: ${parts}. All threads at that time:</p>
${htmlTable(['thread', 'busy', 'waiting', ''], rows, [1, 2])}`;
}
