/** @file `monolith explain`: what a model owes to each column, by shuffling it. */
import { judgedRows } from '../../trained/run-rows.js';
import { type Explained, type Importance, shuffleImportance } from '../../trained/shuffle-importance.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { EXIT_DONE } from '../report.js';
import type { ExplainFlags } from './run-options.js';
import { withRun } from './with-run.js';

const BAR = 20;

export function runExplainCommand(dir: string, flags: ExplainFlags, io: CliIo): Promise<number> {
  return withRun(dir, flags, io, async ({ run, scorer, asked }) => {
    const { repeats, seed } = flags;
    const explained = await shuffleImportance(run.recipe, scorer, await judgedRows(run, asked), { repeats, seed });
    io.out.write(flags.json ? jsonLine({ event: 'explained', run: dir, ...explained }) : textOf(explained));
    return EXIT_DONE;
  });
}

function textOf({ auc, rows, repeats, columns }: Explained): string {
  const times = repeats === 1 ? 'once' : `${repeats} times each`;
  const whole = auc === null ? 'undefined' : auc.toFixed(4);
  const lines = [
    `shuffled one at a time in ${rows.toLocaleString('en-US')} rows (${times}); AUC without shuffling ${whole}`,
  ];
  const width = Math.max(...columns.map(({ column }) => column.length));
  const largest = Math.max(1e-9, ...columns.map(({ mean }) => -mean));
  for (const one of columns) lines.push(lineOf(one, width, largest));
  return `${lines.join('\n')}\n`;
}

function lineOf({ column, mean, deviation }: Importance, width: number, largest: number): string {
  const bar = '█'.repeat(Math.max(0, Math.round((-mean / largest) * BAR)));
  const change = `${mean < 0 ? '-' : '+'}${Math.abs(mean).toFixed(4)} ± ${deviation.toFixed(4)}`;
  const useless = mean > -0.0005 ? '   leaving it out costs nothing' : '';
  return `${column.padEnd(width)}  ${bar.padEnd(BAR)}  ${change}${useless}`;
}
