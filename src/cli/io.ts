/**
 * @file The outside world as commands see it: two streams, the environment, signals and a clock.
 *
 * Commands take it as an argument, so tests run them without a process.
 */
import { MonolithError } from '../base/errors.js';
import { hasSigusr1 } from '../base/sigusr1.js';
import { listenToKeys } from './terminal-keys.js';

/** Where text goes. */
export interface Sink {
  write(text: string): void;
  readonly isTTY: boolean;
  /** Width of the terminal now; 80 where there is none. */
  columns(): number;
  /** Calls `listener` when the width changes, until the returned function is called. */
  onResize(listener: () => void): () => void;
}

export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

export interface CliIo {
  readonly out: Sink;
  readonly err: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  nowMs(): number;
  /** Calls `listener` at each signal that asks the process to stop, until the returned function is called. */
  onSignal(listener: (signal: StopSignal) => void): () => void;
  /**
   * Calls `listener` once nobody reads standard output any more (`| head`), or with ML_OUTPUT once text cannot be
   * written, on a full disk mostly, until the returned function is called.
   */
  onBrokenOutput(listener: BrokenOutput): () => void;
  /**
   * Calls `listener` at each signal that asks what the process is doing, SIGUSR2, until the returned function is
   * called.
   */
  onDumpSignal(listener: (signal: string) => void): () => void;
  /**
   * Calls `listener` at each key that is pressed on the terminal that started this, until the returned function is
   * called; null where there is none, or others have it.
   */
  onKey(listener: (key: string) => void): (() => void) | null;
  /** Ends the process at once. */
  exit(code: number): void;
}

export type BrokenOutput = (error?: MonolithError) => void;

/** Nobody is there any more to be told. */
const BROKEN_CODES = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']);

class StreamSink implements Sink {
  readonly #stream: NodeJS.WriteStream;
  readonly #listeners = new Set<BrokenOutput>();
  /** What ended it: an error, or null when its reader went away. */
  #broken: MonolithError | null | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (this.#broken !== undefined) return;
      this.#broken = BROKEN_CODES.has(error.code ?? '') ? null : outputError(error);
      if (this.#broken !== null && this.#listeners.size === 0) throw this.#broken;
      for (const listener of this.#listeners) listener(this.#broken ?? undefined);
    });
  }

  write(text: string): void {
    if (this.#broken === undefined) this.#stream.write(text);
  }

  get isTTY(): boolean {
    return this.#stream.isTTY === true;
  }

  columns(): number {
    return this.#stream.columns > 0 ? this.#stream.columns : 80;
  }

  onResize(listener: () => void): () => void {
    this.#stream.on('resize', listener);
    return () => this.#stream.off('resize', listener);
  }

  onBroken(listener: BrokenOutput): () => void {
    this.#listeners.add(listener);
    if (this.#broken !== undefined) listener(this.#broken ?? undefined);
    return () => this.#listeners.delete(listener);
  }
}

/** A full disk under a log, mostly: nothing that can be told there any more. */
function outputError(cause: Error): MonolithError {
  const hint = 'free some disk space, or send the output elsewhere; saved checkpoints are whole';
  return new MonolithError('ML_OUTPUT', { reason: cause.message }, { hint, cause });
}

/** The streams, signals and environment of this process. */
export function processIo(): CliIo {
  const out = new StreamSink(process.stdout);
  const err = new StreamSink(process.stderr);
  return {
    out,
    err,
    env: process.env,
    nowMs: () => performance.now(),
    onSignal(listener) {
      for (const signal of STOP_SIGNALS) process.on(signal, listener as NodeJS.SignalsListener);
      return () => {
        for (const signal of STOP_SIGNALS) process.off(signal, listener as NodeJS.SignalsListener);
      };
    },
    onDumpSignal(listener) {
      if (process.platform === 'win32') return () => {};
      const signals = hasSigusr1() ? (['SIGUSR2', 'SIGUSR1'] as const) : (['SIGUSR2'] as const);
      for (const signal of signals) process.on(signal, listener);
      return () => {
        for (const signal of signals) process.off(signal, listener);
      };
    },
    onBrokenOutput(listener) {
      // That nobody reads standard error is no reason to stop; that it cannot be written is.
      const stops = [out.onBroken(listener), err.onBroken((error) => error !== undefined && listener(error))];
      return () => stops.forEach((stop) => void stop());
    },
    onKey: (listener) => listenToKeys(listener, process.stdin),
    exit: (code) => process.exit(code),
  };
}
