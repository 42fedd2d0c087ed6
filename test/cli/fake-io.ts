/** @file A world for commands under test: text is kept, time and signals come from the test. */
import type { MonolithError } from '../../src/base/errors.js';
import type { BrokenOutput, CliIo, Sink, StopSignal } from '../../src/cli/io.js';

export class FakeSink implements Sink {
  text = '';
  width: number;
  readonly isTTY: boolean;
  readonly resizeListeners = new Set<() => void>();

  constructor(isTTY: boolean, width: number) {
    this.isTTY = isTTY;
    this.width = width;
  }

  write(text: string): void {
    this.text += text;
  }

  columns(): number {
    return this.width;
  }

  onResize(listener: () => void): () => void {
    this.resizeListeners.add(listener);
    return () => this.resizeListeners.delete(listener);
  }

  resize(width: number): void {
    this.width = width;
    for (const listener of this.resizeListeners) listener();
  }

  /** What was written since the last call. */
  take(): string {
    const text = this.text;
    this.text = '';
    return text;
  }
}

export class FakeIo implements CliIo {
  readonly out: FakeSink;
  readonly err: FakeSink;
  readonly env: Record<string, string | undefined>;
  readonly exits: number[] = [];
  readonly signalListeners = new Set<(signal: StopSignal) => void>();
  readonly pipeListeners = new Set<BrokenOutput>();
  readonly dumpListeners = new Set<(signal: string) => void>();
  readonly keyListeners = new Set<(key: string) => void>();
  timeMs = 0;

  constructor(options: { tty?: boolean; columns?: number; env?: Record<string, string> } = {}) {
    this.out = new FakeSink(options.tty ?? false, options.columns ?? 80);
    this.err = new FakeSink(options.tty ?? false, options.columns ?? 80);
    this.env = options.env ?? {};
  }

  nowMs(): number {
    return this.timeMs;
  }

  onSignal(listener: (signal: StopSignal) => void): () => void {
    this.signalListeners.add(listener);
    return () => this.signalListeners.delete(listener);
  }

  onBrokenOutput(listener: BrokenOutput): () => void {
    this.pipeListeners.add(listener);
    return () => this.pipeListeners.delete(listener);
  }

  onDumpSignal(listener: (signal: string) => void): () => void {
    this.dumpListeners.add(listener);
    return () => this.dumpListeners.delete(listener);
  }

  onKey(listener: (key: string) => void): (() => void) | null {
    if (!this.out.isTTY) return null;
    this.keyListeners.add(listener);
    return () => this.keyListeners.delete(listener);
  }

  /** Somebody presses a key. */
  press(key: string): void {
    for (const listener of this.keyListeners) listener(key);
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  signal(signal: StopSignal): void {
    for (const listener of this.signalListeners) listener(signal);
  }

  /** Nobody reads any more; with an error: nothing can be written any more. */
  breakPipe(error?: MonolithError): void {
    for (const listener of this.pipeListeners) listener(error);
  }
}
