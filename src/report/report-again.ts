/** @file The part of a report that says how to get its run again. */
import { bytesText } from '../base/number-text.js';
import { type Html, html } from './html.js';
import type { RunStory } from './run-story.js';

/** A word as a shell takes it. */
const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

export function again({ run, start, data, done, test, trained, saves }: RunStory): Html {
  const rows: [string, string][] = [];
  if (start !== undefined) {
    rows.push(
      ['model', `${start.model}, batch ${start.batchSize}`],
      ['ran on', `${start.threads} threads, ${start.backend} backend, ${start.kernels} kernels, ${start.device}`],
    );
  }
  for (const { file, bytes, modified } of data?.files ?? []) {
    const size = bytes === null ? '' : `, ${bytesText(bytes)}`;
    rows.push(['data', `${file}${size}${modified == null ? '' : `, of ${modified}`}`]);
  }
  for (const { file, key } of data?.sides ?? []) rows.push(['beside', `${file}, joined by ${key}`]);
  if (run !== undefined) {
    const { version, node, machine, commit, folder, started } = run;
    rows.push(
      ['started', started],
      ['folder', folder],
      ['versions', `monolith-ts ${version}, Node.js ${node}`],
      ['machine', `${machine.cpu}, ${machine.cores} cores, ${bytesText(machine.memory)}, ${machine.system}`],
    );
    if (commit !== null) rows.push(['commit', commit]);
  }
  const checkpoint = done?.checkpoint ?? saves.at(-1)?.path;
  if (checkpoint != null) rows.push(['checkpoint', checkpoint]);
  if (test !== undefined) rows.push(['reported on', `step ${test.step}`]);
  if (trained !== undefined) rows.push(['stopped by', trained.stoppedBy]);
  if (done?.trace != null) rows.push(['trace', done.trace]);
  return html`<h2>To get this again</h2>
${run && html`<pre>${run.command.map(shellWord).join(' ')}</pre>\n`}<div class="wide"><table><tbody>
${rows.map(([name, value]) => html`<tr><th>${name}</th><td>${value}</td></tr>\n`)}</tbody></table></div>
${settings(run)}`;
}

/** Settings that somebody gave; the seed always. */
function settings(run: RunStory['run']): Html | undefined {
  if (run === undefined) return undefined;
  const all = Object.entries(run.settings);
  const given = all.filter(([name, { origin }]) => origin !== 'default' || name === 'seed');
  const row = ([name, { value, origin }]: (typeof all)[number]) =>
    html`<tr><th>${name}</th><td>${textOf(value)}</td><td class="dim">${origin}</td></tr>\n`;
  return html`<h3>Settings that are not the usual ones</h3>
<div class="wide"><table><tbody>
${given.map(row)}</tbody></table></div>
<details><summary>All ${all.length} settings</summary>
<div class="wide"><table><tbody>
${all.map(row)}</tbody></table></div>
</details>`;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
