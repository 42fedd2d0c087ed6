/** @file `monolith recommend`: the items that go best with whom it is asked for. */
import { MonolithError } from '../../base/errors.js';
import { Dataset } from '../../data/dataset.js';
import { csvText } from '../../data/files/csv-text.js';
import type { DataRow } from '../../data/files/place.js';
import { type Recommendation, recommend } from '../../trained/recommend.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { EXIT_DONE } from '../report.js';
import type { RecommendFlags } from './run-options.js';
import { withRun } from './with-run.js';

export function runRecommendCommand(dir: string, flags: RecommendFlags, io: CliIo): Promise<number> {
  const named = flags.for === null ? undefined : [askedRow(flags.for)];
  return withRun(dir, flags, io, async ({ run, scorer, asked }) => {
    const asking = named ?? (await rowsOfInput());
    const show = flags.show === null ? [] : flags.show.split(',').map((name) => name.trim());
    const start = performance.now();
    const { top } = flags;
    const given = { ...asked, asking, top, show, item: flags.item ?? undefined, leaveSeen: flags.seen };
    for (const one of await recommend(run, scorer, given)) {
      if (flags.json) io.out.write(jsonLine({ event: 'recommended', ...one }));
      else {
        io.out.write(itemsText(one));
        if (!flags.quiet) io.err.write(summary(one, (performance.now() - start) / 1000));
      }
    }
    return EXIT_DONE;
  });
}

/** `userId=42,hour=12` */
function askedRow(text: string): DataRow {
  const row: Record<string, string> = {};
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=');
    if (at <= 0) {
      const reason = `must be COLUMN=VALUE, found "${pair}"`;
      throw new MonolithError('ML_FLAG', { flag: '--for', reason }, { hint: 'such as --for userId=42' });
    }
    row[pair.slice(0, at).trim()] = pair.slice(at + 1).trim();
  }
  return row;
}

async function rowsOfInput(): Promise<DataRow[]> {
  const rows: DataRow[] = [];
  for await (const row of Dataset.from('-', { format: 'jsonl' })) rows.push(row);
  if (rows.length > 0) return rows;
  const hint = '--for userId=42, or echo \'{"userId":42}\' | monolith recommend …';
  throw new MonolithError('ML_FLAG', { flag: '--for', reason: 'nothing says whom it is for' }, { hint });
}

function itemsText({ items }: Recommendation): string {
  const rows = items.map(({ id, score, shown }) => [
    score.toFixed(3),
    String(id),
    ...Object.values(shown).map((value) => csvText(value)),
  ]);
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function summary({ scored, seen, item, unknown, note, ...one }: Recommendation, seconds: number): string {
  const whole = (count: number) => count.toLocaleString('en-US');
  const left = seen > 0 ? `, ${whole(seen)} that were seen left out` : '';
  const lines = [`${whole(scored)} of ${item} scored in ${seconds.toFixed(2)} s${left}`];
  if (unknown.length > 0) {
    const names = unknown.map((name) => `${name} ${String(one.for[name])}`).join(', ');
    lines.push(`training never saw ${names}: the scores are those for anyone`);
  }
  if (note !== null) lines.push(`note: ${note}`);
  return `${lines.join('\n')}\n`;
}
