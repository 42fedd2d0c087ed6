/** @file A table of a page. */
import { type Html, html } from './html.js';

export type Cell = string | Html;

/** A table; `numbers` are the columns that stand on the right. */
export function htmlTable(
  heads: readonly string[],
  rows: readonly (readonly Cell[])[],
  numbers: readonly number[] = [],
): Html {
  const kind = (at: number) => (numbers.includes(at) ? 'num' : '');
  const row = (cells: readonly Cell[]) =>
    html`<tr>${cells.map((cell, at) => html`<td class="${kind(at)}">${cell}</td>`)}</tr>\n`;
  return html`<div class="wide"><table>
<thead><tr>${heads.map((head, at) => html`<th class="${kind(at)}">${head}</th>`)}</tr></thead>
<tbody>
${rows.map(row)}</tbody>
</table></div>`;
}
