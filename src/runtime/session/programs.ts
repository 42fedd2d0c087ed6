/** @file The programs of a session, each made when its fetches are first asked for. */
import { misfit, Op, Tensor } from '../../graph/graph.js';
import type { Mode } from '../../graph/mode.js';
import { roomNeeded } from '../compile/batch-room.js';
import type { Cut } from '../compile/compile-environment.js';
import { compile, type Program } from '../compile/compiler.js';
import { modeOf } from '../compile/execution-order.js';
import { type Fetch, notAFetch } from './nested-fetches.js';
import type { SessionCore } from './session-core.js';

/** A program, and what it is made of again when it needs more room. */
interface Made {
  readonly fetches: readonly Fetch[];
  readonly mode: Mode | undefined;
  program: Program;
}

export class Programs {
  readonly #core: SessionCore;
  readonly #cut: Cut | undefined;
  readonly #byNames = new Map<string, Made>();
  /** Those that were made again, too. */
  readonly #made = new WeakMap<Program, Made>();
  readonly #byArray = new WeakMap<readonly Fetch[], Map<Mode | undefined, Made>>();

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
    let made = this.#byArray.get(fetches)?.get(mode);
    if (made === undefined) {
      const odd = fetches.find((fetch) => !(fetch instanceof Tensor || fetch instanceof Op));
      if (odd !== undefined) throw notAFetch(odd);
      const stranger = fetches.find((fetch) => fetch.graph !== this.#core.graph);
      if (stranger !== undefined) throw misfit(stranger, 'it is of another graph than the session');
      const key = [modeOf(fetches, mode), ...fetches.map((fetch) => fetch.name)].join('\n');
      made = this.#byNames.get(key) ?? this.#make(fetches, mode);
      this.#byNames.set(key, made);
      const ofArray = this.#byArray.get(fetches) ?? new Map<Mode | undefined, Made>();
      this.#byArray.set(fetches, ofArray.set(mode, made));
    }
    return made.program;
  }

  /**
   * The program, or, where `batches` have more ids than it has room for, the same with more room in its place. What it
   * has under way stays where it is. In a turn, and after the batches were checked.
   */
  withRoom(program: Program, batches: readonly number[]): Program {
    if (!program.needsBatch || program.ragged.length === 0) return program;
    const core = this.#core;
    // A run before this one, which came later than this was asked for, may have made it again.
    const made = this.#made.get(program)!;
    const rooms = roomNeeded(core.views, batches, core.plan, made.program.ragged);
    if (rooms === undefined) return made.program;
    core.makeRoom(rooms);
    made.program = this.#compile(made.fetches, made.mode);
    this.#made.set(made.program, made);
    return made.program;
  }

  #make(fetches: readonly Fetch[], mode: Mode | undefined): Made {
    const made = { fetches: [...fetches], mode, program: this.#compile(fetches, mode) };
    this.#made.set(made.program, made);
    return made;
  }

  #compile(fetches: readonly Fetch[], mode: Mode | undefined): Program {
    return compile(this.#core, fetches, { mode, cut: this.#cut });
  }
}
