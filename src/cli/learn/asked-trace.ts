/** @file A trace of the next steps of a run, written when somebody asks for it. */
import { join } from 'node:path';
import { messageOf } from '../../base/errors.js';
import type { RunEvent } from '../../recipe/run-event.js';
import { writeChromeTrace } from '../../trace/chrome-trace.js';
import { type TraceMoment, traceMoment } from '../../trace/live-trace.js';
import type { RunContext, TrainHook } from '../../train/hooks/hook.js';

const STEPS = 200;

export class AskedTrace implements TrainHook {
  readonly #dir: string;
  readonly #tell: (event: RunEvent) => void;
  #isAsked = false;
  #since: { readonly moment: TraceMoment; readonly step: number } | undefined;

  constructor(dir: string, tell: (event: RunEvent) => void) {
    this.#dir = dir;
    this.#tell = tell;
  }

  ask(): void {
    this.#isAsked = true;
  }

  async poll(context: RunContext): Promise<void> {
    const { session, globalStep } = context;
    if (this.#since === undefined) {
      if (!this.#isAsked) return;
      this.#isAsked = false;
      this.#since = { moment: traceMoment(session.trace.threads), step: globalStep };
      return;
    }
    if (globalStep - this.#since.step >= STEPS) await this.#write(context);
  }

  /** A trace that is lost is no reason to lose the training. */
  async #write({ session, globalStep }: Pick<RunContext, 'session' | 'globalStep'>): Promise<void> {
    const { moment, step } = this.#since!;
    this.#since = undefined;
    const { threads, names } = session.trace;
    const file = join(this.#dir, `trace-${step + 1}-${globalStep}.json`);
    const metadata = { backend: session.backend, device: session.device };
    try {
      const { lost } = await writeChromeTrace(file, { threads, names, since: moment.written, metadata });
      const gone = lost.reduce((sum, count) => sum + count, 0);
      const rest = gone > 0 ? `; ${gone} older events were overwritten` : '';
      this.#tell({ event: 'note', message: `trace of steps ${step + 1} to ${globalStep}: ${file}${rest}` });
    } catch (thrown) {
      this.#tell({ event: 'warning', code: 'ML_TRACE_WRITE', message: messageOf(thrown) });
    }
  }

  /** What was asked for near the end is written with what there is. */
  async end(session: RunContext['session']): Promise<void> {
    if (this.#since !== undefined) await this.#write({ session, globalStep: session.globalStep });
  }
}
