/**
 * @file What can be asked of the JavaScript engine: its version, which WebAssembly it takes, and flags for a moment.
 *
 * Flags are those of the whole process. They are set for one synchronous call and set back: what the engine compiles in
 * it keeps what they gave, and nothing else of the process sees them.
 */
import { setFlagsFromString } from 'node:v8';

export interface Engine {
  /** Major version of V8. */
  readonly v8: number;
  readonly arch: string;
  validate(module: Uint8Array): boolean;
  /** Milliseconds, for measuring. */
  now(): number;
  /** Runs `body` with flags on, by name without dashes; `no-` in front of a name turns it off. */
  withFlags<T>(flags: readonly string[], body: () => T): T;
}

export const thisEngine: Engine = {
  v8: Number.parseInt(process.versions.v8, 10),
  arch: process.arch,
  validate: (module) => WebAssembly.validate(module),
  now: () => performance.now(),
  withFlags: (flags, body) => {
    for (const flag of flags) setFlagsFromString(`--${flag}`);
    try {
      return body();
    } finally {
      for (const flag of flags) setFlagsFromString(`--${opposite(flag)}`);
    }
  },
};

function opposite(flag: string): string {
  return flag.startsWith('no-') ? flag.slice(3) : `no-${flag}`;
}
