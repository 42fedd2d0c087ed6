/** @file `monolith trace <file>`: prints what a trace says. */
import { MonolithError } from '../base/errors.js';
import { visible } from '../base/visible.js';
import { formatTraceSummary } from '../trace/format-trace-summary.js';
import { summarizeTrace } from '../trace/trace-summary.js';
import { snakeCaseDeep } from './json-line.js';

export interface TraceCommandOptions {
  /** One line of JSON, with all rows unless `top` is given. */
  readonly json?: boolean;
  /** Rows of each long table. */
  readonly top?: number;
  /** Colour. Default: as the terminal and NO_COLOR say. */
  readonly color?: boolean;
}

/** Prints the summary of `file` through `out`, line by line. */
export async function runTraceCommand(
  file: string,
  options: TraceCommandOptions,
  out: (line: string) => void,
): Promise<void> {
  const { top } = options;
  if (top !== undefined && !(Number.isInteger(top) && top >= 1)) {
    throw new MonolithError('ML_FLAG', { flag: '--top', reason: `must be a whole number from 1, not ${top}` });
  }
  const summary = await summarizeTrace(file);
  if (options.json) {
    const ops = summary.ops.slice(0, top);
    const waits = summary.waits.slice(0, top);
    out(visible(JSON.stringify(snakeCaseDeep({ file, ...summary, ops, waits }))));
    return;
  }
  const color = options.color ?? (process.stdout.isTTY === true && !process.env.NO_COLOR);
  out(`trace ${visible(file)}`);
  for (const line of formatTraceSummary(summary, { color, ...(top === undefined ? {} : { top }) }).split('\n'))
    out(line);
}
