/** @file Where the events of a run go: to the screen at once, and to its folder as soon as there is one. */
import type { RunEvent } from '../../recipe/run-event.js';
import type { RunFolder } from '../../report/run-folder.js';
import type { ProgressReporter } from '../progress.js';

/** Least time between two kept points of progress: short at first, so that short runs have curves. */
const KEEP_MS = 50;
const KEEP_SHARE = 0.001;

export class RunLog {
  readonly #reporter: ProgressReporter;
  readonly #make: () => RunFolder;
  readonly #start = performance.now();
  #waiting: RunEvent[] = [];
  #folder: RunFolder | undefined;
  #keptMs = 0;
  #step = 0;

  constructor(reporter: ProgressReporter, make: () => RunFolder) {
    this.#reporter = reporter;
    this.#make = make;
  }

  tell(event: RunEvent): void {
    this.keep(event);
    this.#reporter.event(event);
  }

  /** Keeps an event that is shown in another way. A long run keeps fewer points of progress a minute. */
  keep(event: RunEvent): void {
    if ('step' in event) this.#step = event.step;
    if (event.event === 'progress') {
      const now = performance.now();
      if (now - this.#keptMs < Math.max(KEEP_MS, (now - this.#start) * KEEP_SHARE)) return;
      this.#keptMs = now;
    }
    if (this.#folder === undefined) this.#waiting.push(event);
    else this.#folder.keep(event);
  }

  /** The folder, made now: what cannot be trained leaves none behind. */
  open(): RunFolder {
    this.#folder ??= this.#make();
    for (const event of this.#waiting.splice(0)) this.#folder.keep(event);
    return this.#folder;
  }

  /** The step that was told of last. */
  get step(): number {
    return this.#step;
  }

  /** The folder if there is one. */
  get folder(): RunFolder | undefined {
    return this.#folder;
  }

  close(): void {
    this.#folder?.close();
  }
}
