/** @file What people read at the end of a training run. */
import { counted, lossText, rateText } from './progress-line.js';
import type { TrainResult } from './train-job.js';

/** The closing lines of a run. */
export function resultText(result: TrainResult): string {
  const threads = counted(result.threads, 'thread');
  const rows: [string, string][] = [
    ['final loss', result.loss === null ? 'none: no step was run' : `${lossText(result.loss)} (last batch)`],
    ['held-out loss', result.evalLoss === null ? 'none' : lossText(result.evalLoss)],
    ['held-out AUC', result.auc === null ? 'undefined: no held-out examples of both classes' : result.auc.toFixed(4)],
    [
      'throughput',
      `${rateText(result.examplesPerS)} examples/s, ${rateText(result.stepsPerS)} steps/s ` +
        `(${threads}, ${result.backend} backend)`,
    ],
    [
      'checkpoint',
      result.checkpoint ?? (result.loss === null ? 'none: no step was run' : 'not kept: --model-dir DIR keeps it'),
    ],
  ];
  rows.push(['report', 'none: the built-in demo leaves none; --data demo:clicks does']);
  if (result.trace !== null) {
    rows.push(['trace', `${result.trace} (sum it up with: monolith trace ${shellWord(result.trace)})`]);
  }
  const title = result.interrupted ? `stopped early at step ${result.step}` : `done at step ${result.step}`;
  return `${[title, ...rows.map(([name, value]) => `  ${name.padEnd(14)}${value}`)].join('\n')}\n`;
}

/** `text` as one word of a shell command. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
