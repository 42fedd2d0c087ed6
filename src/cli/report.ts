/**
 * @file Prints what went wrong and picks the exit code: 2 for a command line that cannot be, 1 for everything else.
 *
 * People read standard error; with --json a line on standard output says the same to programs.
 */
import { MonolithError, messageOf } from '../base/errors.js';
import { visible, visibleLines } from '../base/visible.js';
import type { CliIo } from './io.js';
import { jsonLine } from './json-line.js';

export interface ReportOptions {
  readonly json: boolean;
  readonly verbose: boolean;
}

export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_MISUSED = 2;
/** Errors that are of what the user wrote. */
const MISUSES: ReadonlySet<string> = new Set(['ML_FLAG', 'ML_CONFIG_FILE']);

/** Prints `thrown` and returns the exit code. */
export function reportError(thrown: unknown, io: Pick<CliIo, 'out' | 'err' | 'env'>, options: ReportOptions): number {
  const error = coded(thrown);
  const verbose = options.verbose || isSet(io.env.MONOLITH_DEBUG);
  if (options.json) io.out.write(jsonLine(errorEvent(error)));
  io.err.write(errorText(error, verbose));
  return MISUSES.has(error.code) ? EXIT_MISUSED : EXIT_FAILED;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0';
}

/** Anything thrown, as an error with a code. */
export function coded(thrown: unknown): MonolithError {
  if (thrown instanceof MonolithError) return thrown;
  return new MonolithError(
    'ML_INTERNAL',
    { reason: messageOf(thrown) },
    { hint: 'this is likely a defect of monolith; run again with --verbose to see where it comes from', cause: thrown },
  );
}

/** The lines people see. */
export function errorText(error: MonolithError, verbose: boolean): string {
  const lines = [`error ${error.code}: ${visibleLines(error.message)}`];
  if (error.hint !== undefined) lines.push(`hint: ${visibleLines(error.hint)}`);
  if (verbose) {
    if (error.stack !== undefined) lines.push(stackFrames(error.stack));
    lines.push(...causeLines(error));
  }
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

function causeLines(error: Error): string[] {
  const lines: string[] = [];
  const seen = new Set<unknown>([error]);
  for (let cause = error.cause; cause !== undefined && !seen.has(cause); ) {
    seen.add(cause);
    lines.push(`caused by: ${visibleLines(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause))}`);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines;
}

/** A stack without its first lines, which repeat the message. */
function stackFrames(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map(visible)
    .join('\n');
}

/** The object programs see. */
export function errorEvent(error: MonolithError): Record<string, unknown> {
  return {
    event: 'error',
    code: error.code,
    message: error.message,
    hint: error.hint ?? null,
    fields: Object.fromEntries(Object.entries(error.fields).map(([name, value]) => [name, plain(value)])),
  };
}

/** A field as JSON can carry it. Fields are free-form, and reporting one error must not raise another. */
function plain(value: unknown): unknown {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'number' ? item : String(item)));
  return String(value);
}
