/**
 * @file Shows how far a long read of files has come, on a terminal only. It is drawn on standard error, so that it is
 * there when the output goes to a file, and gone when the read is over.
 */
import type { CliIo } from './io.js';
import { BAR_INTERVAL_MS } from './progress.js';
import { barText, bytesText, durationText } from './progress-line.js';

/** A read shorter than this needs no bar. */
const QUIET_MS = 500;
const BAR_CELLS = 24;

export class ScanProgress {
  readonly #io: CliIo;
  readonly #totalBytes: number;
  readonly #startMs: number;
  readonly #isShown: boolean;
  #drawnMs: number;
  #isDrawn = false;

  constructor(io: CliIo, totalBytes: number) {
    this.#io = io;
    this.#totalBytes = totalBytes;
    this.#startMs = io.nowMs();
    this.#drawnMs = this.#startMs + QUIET_MS - BAR_INTERVAL_MS;
    this.#isShown = io.err.isTTY && io.env.TERM !== 'dumb';
  }

  update(bytes: number): void {
    const nowMs = this.#io.nowMs();
    if (!this.#isShown || nowMs - this.#drawnMs < BAR_INTERVAL_MS) return;
    this.#drawnMs = nowMs;
    this.#isDrawn = true;
    const line = scanLine(bytes, this.#totalBytes, (nowMs - this.#startMs) / 1000);
    this.#io.err.write(`\r\x1b[K${line.slice(0, Math.max(1, this.#io.err.columns() - 1))}`);
  }

  /** Takes the bar off the screen. May be called twice. */
  close(): void {
    if (this.#isDrawn) this.#io.err.write('\r\x1b[K');
    this.#isDrawn = false;
  }
}

/** ` 45%  [===>   ]  1.2 GiB of 2.6 GiB  310.0 MiB/s  ETA 4s` */
export function scanLine(bytes: number, totalBytes: number, seconds: number): string {
  const share = totalBytes > 0 ? Math.min(1, bytes / totalBytes) : 1;
  const rate = seconds > 0 ? bytes / seconds : 0;
  const eta = rate > 0 ? (totalBytes - bytes) / rate : null;
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  return [
    percent,
    barText(share, BAR_CELLS, false),
    `${bytesText(bytes)} of ${bytesText(totalBytes)}`,
    `${bytesText(Math.round(rate))}/s`,
    `ETA ${durationText(eta)}`,
  ].join('  ');
}
