/** @file The programs of a session, each made when its fetches are first asked for. */
import { misfit, Op, Tensor } from '../../graph/graph.js';
import type { Mode } from '../../graph/mode.js';
import type { Cut } from '../compile/compile-environment.js';
import { compile, type Program } from '../compile/compiler.js';
import { modeOf } from '../compile/execution-order.js';
import { type Fetch, notAFetch } from './nested-fetches.js';
import type { SessionCore } from './session-core.js';

export class Programs {
  readonly #core: SessionCore;
  readonly #cut: Cut | undefined;
  readonly #byNames = new Map<string, Program>();
  readonly #byArray = new WeakMap<readonly Fetch[], Map<Mode | undefined, Program>>();

  /** `cut` says how steps that update tables are cut. */
  constructor(core: SessionCore, cut?: Cut) {
    this.#core = core;
    this.#cut = cut;
  }

  /** Whether this array has a program: `of` then makes nothing. */
  has(fetches: readonly Fetch[], mode?: Mode): boolean {
    return this.#byArray.get(fetches)?.has(mode) ?? false;
  }

  /** The program of a mode, or of that of the graph. */
  of(fetches: readonly Fetch[], mode?: Mode): Program {
    // A training loop passes the same array every time: then nothing is built to look the program up.
    let program = this.#byArray.get(fetches)?.get(mode);
    if (program === undefined) {
      const odd = fetches.find((fetch) => !(fetch instanceof Tensor || fetch instanceof Op));
      if (odd !== undefined) throw notAFetch(odd);
      const stranger = fetches.find((fetch) => fetch.graph !== this.#core.graph);
      if (stranger !== undefined) throw misfit(stranger, 'it is of another graph than the session');
      const key = [modeOf(fetches, mode), ...fetches.map((fetch) => fetch.name)].join('\n');
      program = this.#byNames.get(key) ?? compile(this.#core, fetches, { mode, cut: this.#cut });
      this.#byNames.set(key, program);
      const ofArray = this.#byArray.get(fetches) ?? new Map<Mode | undefined, Program>();
      this.#byArray.set(fetches, ofArray.set(mode, program));
    }
    return program;
  }
}
