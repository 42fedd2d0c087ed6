/** @file The `trace` command: prints the summary of a trace file. */
import { MonolithError } from '../base/errors.js';

export interface TraceCommandOptions {
  readonly json?: boolean;
  /** Rows to show per table. */
  readonly top?: number;
}

export async function runTraceCommand(
  file: string,
  _options: TraceCommandOptions,
  _out: (line: string) => void,
): Promise<void> {
  throw new MonolithError('ML_UNSUPPORTED', { what: `summing up ${file}`, reason: 'this build holds no trace reader' });
}
