/** @file Text of the progress bar and of progress lines, as functions of numbers alone. */
import { durationText, lossText, rateText } from '../base/number-text.js';
import type { ProgressEvent } from './train-job.js';

export { bytesText, counted, durationText, lossText, rateText } from '../base/number-text.js';

const BAR_CELLS_MIN = 8;
const BAR_CELLS_MAX = 30;
const GAP = '  ';

/** Where a run stands. Percent counts the steps of this run, not those it was restored with. */
export interface Progress extends Omit<ProgressEvent, 'event'> {
  readonly startStep: number;
}

export interface BarStyle {
  readonly columns: number;
  readonly color: boolean;
}

/** Share of this run that is done, from 0 to 1. */
export function doneShare({ startStep, step, endStep }: Progress): number {
  const total = endStep - startStep;
  return total > 0 ? Math.min(1, Math.max(0, (step - startStep) / total)) : 1;
}

/** Whole percent, rounded down: 100 % is shown for the last step only. */
export function percentText(progress: Progress): string {
  return `${Math.floor(doneShare(progress) * 100)}%`;
}

/** One line for a file or a pipe. */
export function plainLine(progress: Progress): string {
  return [
    `step ${progress.step}/${progress.endStep}`,
    percentText(progress),
    `loss ${lossText(progress.loss)}`,
    `${rateText(progress.stepsPerS)} steps/s`,
    `${rateText(progress.examplesPerS)} examples/s`,
    `ETA ${durationText(progress.etaS)}`,
  ].join(GAP);
}

/**
 * One line for a terminal. It never fills the last column, because some terminals wrap there. What does not fit is left
 * out, least important first: steps/s, examples/s, the bar, loss, ETA, step count.
 */
export function barLine(progress: Progress, { columns, color }: BarStyle): string {
  const width = Math.max(1, columns - 1);
  const bar = 1; // place of the bar in the order of display
  const parts = [
    percentText(progress).padStart(4),
    `[${' '.repeat(BAR_CELLS_MIN)}]`,
    `${progress.step}/${progress.endStep}`,
    `${rateText(progress.stepsPerS)} steps/s`,
    `${rateText(progress.examplesPerS)} examples/s`,
    `loss ${lossText(progress.loss)}`,
    `ETA ${durationText(progress.etaS)}`,
  ];
  const kept = new Set<number>();
  let used = 0;
  for (const index of [0, 2, 6, 5, bar, 4, 3]) {
    const size = parts[index]!.length + (kept.size > 0 ? GAP.length : 0);
    if (used + size > width) break;
    kept.add(index);
    used += size;
  }
  if (kept.size === 0) return percentText(progress).slice(0, width);
  const cells = Math.min(BAR_CELLS_MAX, BAR_CELLS_MIN + width - used);
  const shown = parts.map((part, index) => (index === bar ? barText(doneShare(progress), cells, color) : part));
  return shown.filter((_, index) => kept.has(index)).join(GAP);
}

/** `share` of `cells` cells, in brackets. */
export function barText(share: number, cells: number, color: boolean): string {
  const full = Math.floor(share * cells);
  const head = full < cells ? '>' : '';
  const drawn = '='.repeat(full) + head;
  const rest = ' '.repeat(cells - drawn.length);
  return color ? `[\x1b[32m${drawn}\x1b[39m${rest}]` : `[${drawn}${rest}]`;
}
