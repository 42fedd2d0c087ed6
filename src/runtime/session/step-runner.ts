/** @file Runs parts of programs on the threads of a session, one call after the other. */
import { nextCommand } from '../../memory/control-layout.js';
import type { StepPart } from '../compile/code.js';
import type { Program } from '../compile/compiler.js';
import type { Command, ThreadPool } from '../pool/thread-pool.js';
import type { SessionCore } from './session-core.js';

export class StepRunner {
  readonly timeoutMs: number;
  readonly #core: SessionCore;
  readonly #pool: ThreadPool;
  /** What runs; undefined when the threads are idle. */
  #last: Promise<unknown> | undefined;

  constructor(core: SessionCore, pool: ThreadPool, timeoutMs: number) {
    this.#core = core;
    this.#pool = pool;
    this.timeoutMs = timeoutMs;
  }

  /** Runs the commands after those of earlier calls; the number of the first. */
  run(commands: readonly Command[]): Promise<number> {
    const result = this.#last === undefined ? this.#run(commands) : this.#last.then(() => this.#run(commands));
    const ended: Promise<void> = result.then(
      () => this.#end(ended),
      () => this.#end(ended),
    );
    this.#last = ended;
    return result;
  }

  /** Waits until the threads have nothing to do: then tables can be told of the step that follows. */
  async untilIdle(): Promise<void> {
    while (this.#last !== undefined) await this.#last;
  }

  #end(ended: Promise<void>): void {
    if (this.#last === ended) this.#last = undefined;
  }

  async #run(commands: readonly Command[]): Promise<number> {
    const { main, stepName } = this.#core.trace;
    const { tables } = this.#core;
    const start = main?.now() ?? 0;
    tables.setInStep(true);
    try {
      return await this.#pool.run(commands, this.timeoutMs);
    } finally {
      tables.setInStep(false);
      main?.span(stepName, start, main.now());
    }
  }
}

/** A command that may be a step, among others that prepare or follow one. */
export interface StepCommand extends Command {
  readonly isStep?: boolean;
}

/** The numbers of the commands that are steps, of a list that began with `first`. */
export function stepsOf(commands: readonly StepCommand[], first: number): number[] {
  let number = first;
  const steps: number[] = [];
  for (const { isStep } of commands) {
    if (isStep) steps.push(number);
    number = nextCommand(number);
  }
  return steps;
}

/** The command that runs a part of a program for a lease; without a batch the one of the lease stays bound. */
export function commandOf(program: Program, part: StepPart, lease: number, batch: number): Command {
  return { contexts: program.contexts(part, lease), contextStride: program.contextStride, batch };
}
