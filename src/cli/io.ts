/**
 * @file The outside world as commands see it: two streams, the environment, signals and a clock.
 *
 * Commands take it as an argument, so tests run them without a process.
 */
import { MonolithError } from '../base/errors.js';

/** Where text goes. */
export interface Sink {
  write(text: string): void;
  readonly isTTY: boolean;
  /** Width of the terminal now; 80 where there is none. */
  columns(): number;
  /** Calls `listener` when the width changes, until the returned function is called. */
  onResize(listener: () => void): () => void;
}

export type StopSignal = 'SIGINT' | 'SIGTERM';

export interface CliIo {
  readonly out: Sink;
  readonly err: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  nowMs(): number;
  /** Calls `listener` at each SIGINT or SIGTERM, until the returned function is called. */
  onSignal(listener: (signal: StopSignal) => void): () => void;
  /** Calls `listener` once nobody reads standard output any more (`| head`), until the returned function is called. */
  onBrokenPipe(listener: () => void): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
}

const BROKEN_CODES = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']);

class StreamSink implements Sink {
  readonly #stream: NodeJS.WriteStream;
  readonly #listeners = new Set<() => void>();
  #broken = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!BROKEN_CODES.has(error.code ?? '')) throw outputError(error);
      this.#break();
    });
  }

  #break(): void {
    if (this.#broken) return;
    this.#broken = true;
    for (const listener of this.#listeners) listener();
  }

  write(text: string): void {
    if (!this.#broken) this.#stream.write(text);
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

  onBroken(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#broken) listener();
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
  return {
    out,
    err: new StreamSink(process.stderr),
    env: process.env,
    nowMs: () => performance.now(),
    onSignal(listener) {
      process.on('SIGINT', listener as NodeJS.SignalsListener);
      process.on('SIGTERM', listener as NodeJS.SignalsListener);
      return () => {
        process.off('SIGINT', listener as NodeJS.SignalsListener);
        process.off('SIGTERM', listener as NodeJS.SignalsListener);
      };
    },
    onBrokenPipe: (listener) => out.onBroken(listener),
    exit: (code) => process.exit(code),
  };
}
