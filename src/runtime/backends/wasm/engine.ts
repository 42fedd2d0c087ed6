/**
 * @file What can be asked of the JavaScript engine: its version, which WebAssembly it takes, and flags for a moment.
 */
import { MonolithError } from '../../../base/errors.js';
import { v8Flags, wasmFlagsOf } from './v8-flags.js';

export interface Engine {
  /** Version of V8 in full, such as 13.6.233.17-node.53. */
  readonly version: string;
  /** Major version of V8. */
  readonly v8: number;
  readonly arch: string;
  /** Why its flags are left alone, or null. */
  readonly noFlags: string | null;
  validate(module: Uint8Array): boolean;
  /** Milliseconds, for measuring. */
  now(): number;
  /** Runs `body` with flags by name without dashes; `no-` in front of a name turns it off. */
  withFlags<T>(flags: readonly string[], body: () => T): T;
  /** Runs `body` when no other thread of the process is in such a call: flags are those of all threads. */
  alone<T>(body: () => Promise<T>): Promise<T>;
}

/** What Node.js has from 24.5 on, and its types here do not: locks that the threads of a process share. */
interface Locks {
  request<T>(name: string, options: { readonly signal: AbortSignal }, body: () => Promise<T>): Promise<T>;
}

const LOCK = 'monolith-ts:v8-flags';
const LOCK_LIMIT_MS = 30_000;

const noFlags = flagRefusal();

export const thisEngine: Engine = {
  version: process.versions.v8,
  v8: Number.parseInt(process.versions.v8, 10),
  arch: process.arch,
  noFlags,
  validate: (module) => WebAssembly.validate(module),
  now: () => performance.now(),
  withFlags: (flags, body) => (noFlags === null ? v8Flags.during(flags, body) : body()),
  alone: async (body) => {
    const locks = (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks;
    if (locks === undefined) return body();
    const signal = AbortSignal.timeout(LOCK_LIMIT_MS);
    let isMine = false;
    try {
      return await locks.request(LOCK, { signal }, () => {
        isMine = true;
        return body();
      });
    } catch (cause) {
      if (isMine) throw cause;
      const what = 'another thread that tests kernels';
      throw new MonolithError('ML_TIMEOUT', { what, timeoutMs: LOCK_LIMIT_MS }, { cause });
    }
  },
};

function flagRefusal(): string | null {
  // Deno fixes flags at the start, and Bun has another engine that goes by V8's version.
  if ('deno' in process.versions || 'bun' in process.versions) return 'only Node.js sets flags while it runs';
  const given = wasmFlagsOf(process.execArgv, process.env.NODE_OPTIONS);
  return given.length === 0 ? null : `Node.js was started with ${given.join(' ')}, which is left alone`;
}
