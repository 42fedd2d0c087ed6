/**
 * @file Flags of V8 for a moment: set for one synchronous call and set back, all of them, whatever the call does.
 *
 * V8 tells nobody what a flag is at, so flags go back to what V8 has by itself; where the process was started with
 * flags that bear on WebAssembly none is touched. Flags are those of the whole process: other threads see them too
 * while the call lasts, and nobody does afterwards. What one flag brings about in others is worked out at the start of
 * the process alone: whoever sets one later sets them all.
 */
import { setFlagsFromString } from 'node:v8';

/** What V8 has `wasm-tiering-budget` at, by major version; of others it is not known, and left alone. */
const TIERING_BUDGETS: Readonly<Record<number, number>> = {
  11: 1_800_000,
  12: 13_000_000,
  13: 13_000_000,
  14: 13_000_000,
};

export interface FlagState {
  /** Takes `--name`, `--no-name` or `--name=value`. */
  readonly set: (flag: string) => void;
  /** Major version of V8. */
  readonly v8: number;
}

export class V8Flags {
  readonly #state: FlagState;
  /** What calls that have not returned have set. */
  readonly #current = new Map<string, string>();

  constructor(state: FlagState) {
    this.#state = state;
  }

  /**
   * Runs `body` with flags: `name`, `no-name` or `name=value`. They are set in this order and set back in the opposite
   * one.
   */
  during<T>(flags: readonly string[], body: () => T): T {
    const [flag, ...rest] = flags;
    if (flag === undefined) return body();
    const name = flag.replace(/^no-/, '').replace(/=.*$/, '');
    const before = this.#current.get(name) ?? this.#byItself(flag, name);
    if (before === null) return this.during(rest, body);
    try {
      this.#set(name, flag);
      return this.during(rest, body);
    } finally {
      this.#set(name, before);
    }
  }

  #set(name: string, flag: string): void {
    this.#current.set(name, flag);
    this.#state.set(`--${flag}`);
  }

  /** What V8 has the flag at, or null where that is not known. A flag that is set for a moment is set to the other. */
  #byItself(flag: string, name: string): string | null {
    if (name !== 'wasm-tiering-budget') return flag === name ? `no-${name}` : name;
    const budget = TIERING_BUDGETS[this.#state.v8];
    return budget === undefined ? null : `${name}=${budget}`;
  }
}

/** Flags that a process was started with, in the environment or on the command line, and that bear on WebAssembly. */
export function wasmFlagsOf(execArgv: readonly string[], nodeOptions = ''): string[] {
  const bears = /^--.*(?:wasm|liftoff|turbo|jit|enable-(?:sse|avx|fma)|single-threaded|predictable|fuzzing)/;
  return [...nodeOptions.split(/\s+/), ...execArgv].filter((flag) => {
    const name = flag.replaceAll('_', '-');
    // Of Node.js, and about imports.
    return bears.test(name) && name !== '--experimental-wasm-modules';
  });
}

/** The flags of this process. */
export const v8Flags = new V8Flags({
  set: setFlagsFromString,
  v8: Number.parseInt(process.versions.v8, 10),
});
