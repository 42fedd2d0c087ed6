/**
 * @file Signals while something is trained: the first SIGINT, SIGTERM or SIGHUP, or a reader of standard output that
 * went away, asks it to save and stop, which is a success. The second signal ends the process at once with the shell's
 * code for it (130, 143 or 129). Output that cannot be written asks for the same, and is an error once the work is
 * saved. SIGUSR2 shows what every thread is doing.
 */
import type { MonolithError } from '../base/errors.js';
import type { CliIo, StopSignal } from './io.js';
import type { ProgressReporter } from './progress.js';

export const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const satisfies Record<StopSignal, number>;

export interface Stopping {
  readonly io: CliIo;
  readonly reporter: ProgressReporter;
  /** Whether what was done is saved. */
  readonly saves: boolean;
}

/** Runs `body` with a signal that is aborted when it is to stop. */
export async function withStops<T>(
  { io, reporter, saves }: Stopping,
  body: (signal: AbortSignal, stop: () => void) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const stop = (signal: string) => {
    if (abort.signal.aborted) return;
    reporter.note(`${saves ? 'saving and stopping' : 'stopping'}, Ctrl-C again to stop at once`);
    abort.abort(signal);
  };
  const stopSignals = io.onSignal((signal) => {
    if (!abort.signal.aborted) {
      stop(signal);
      return;
    }
    reporter.close();
    io.exit(SIGNAL_EXIT[signal]);
  });
  const stopDumps = io.onDumpSignal((signal) => {
    // Loaded when it is asked for: help and checks of flags come without the training code.
    void import('../train/signal-utils.js').then(async ({ describeProcess }) => {
      reporter.note((await describeProcess(signal)).trimEnd());
    });
  });
  let lost: MonolithError | undefined;
  const stopOutput = io.onBrokenOutput((error) => {
    lost ??= error;
    abort.abort('output');
  });
  try {
    const result = await body(abort.signal, () => stop('key'));
    if (lost !== undefined) throw lost;
    return result;
  } finally {
    reporter.close();
    stopOutput();
    stopSignals();
    stopDumps();
  }
}
