/**
 * @file The addon cannot take the process down: workers that end in the midst of calls, and arguments of wrong kinds.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { rounds } from '../support/rounds.js';
import { withSimulated } from './simulated.js';

const CHILD = fileURLToPath(new URL('./addon-child.js', import.meta.url));
const LIMIT_MS = 100_000;
/** Rounds, and the seed of drawn arguments. */
const ROUNDS = rounds({ quick: 6, deep: 40, variable: 'MONOLITH_TEST_ADDON_ROUNDS' });
const SEED = 11;

/** What a child prints; one that a signal has ended has a null status. */
function child<T>(what: string, size: number, ...flags: string[]): { status: number | null; text: string; seen: T } {
  const { NODE_OPTIONS: _, PTXSIM_CONTROLS: __, ...env } = process.env;
  const options = { env, encoding: 'utf8', timeout: LIMIT_MS, killSignal: 'SIGKILL' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, CHILD, what, String(size)], options);
  const last = stdout.trim().split('\n').at(-1)!;
  return { status, text: `${stdout}${stderr}`.slice(-2000), seen: (status === 0 ? JSON.parse(last) : {}) as T };
}

t.test('workers that are ended while promises of the addon are open end alone, and leave nothing behind', (t) =>
  withSimulated<typeof t>(async (t) => {
    const { status, text, seen } = child<{ rounds: number; lost: number }>('terminate', ROUNDS);
    t.equal(status, 0, text);
    t.same(seen, { rounds: ROUNDS, lost: 0 });
    // After a fault the driver frees nothing more.
    const failing = child<{ rounds: number }>('failing', ROUNDS);
    t.equal(failing.status, 0, failing.text);
    t.equal(failing.seen.rounds, ROUNDS);
  })(t),
);

t.test('what a worker has not given back is given back when it ends', (t) =>
  withSimulated<typeof t>(async (t) => {
    const { status, text, seen } = child<{ codes: number[]; lost: number }>('leaks', ROUNDS);
    t.equal(status, 0, text);
    t.same(seen, { codes: new Array(ROUNDS).fill(0), lost: 0 });
  })(t),
);

t.test('memory, streams and events that nobody holds are given back, and those that a launch holds are not', (t) =>
  withSimulated<typeof t>(async (t) => {
    const { status, text, seen } = child<{ rounds: number; lost: number }>('collect', 40, '--expose-gc');
    t.equal(status, 0, text);
    t.same(seen, { rounds: 40, lost: 0 });
  })(t),
);

t.test('every function refuses arguments that it does not take', (t) =>
  withSimulated<typeof t>(async (t) => {
    type Codes = [name: string, code: string][];
    interface Seen {
      readonly closed: Codes;
      readonly without: Codes;
      readonly symbols: Codes;
      readonly thrown: number[];
      readonly freed: [code: string, bytes: number];
      readonly found: number[];
    }
    const { status, text, seen } = child<Seen>('types', SEED);
    t.equal(status, 0, `seed ${SEED}: ${text}`);
    const takesNothing = ['deviceCount', 'memoryInfo', 'streamCreate', 'contextSynchronize', 'simulatorReset'];
    const refused = 'TypeError ERR_INVALID_ARG_TYPE';
    t.ok(seen.without.length > 40);
    for (const [name, code] of seen.closed) {
      t.equal(code, name === 'open' ? refused : 'Error ERR_INVALID_STATE', `${name} without a driver`);
    }
    for (const list of [seen.without, seen.symbols]) {
      for (const [name, code] of list) t.equal(code, takesNothing.includes(name) ? 'none' : refused, name);
    }
    t.ok(seen.thrown.filter((count) => count > 100).length > 35, 'drawn arguments were refused');
    t.same(seen.freed, ['MonolithError ML_CUDA_CALL', 8], 'memory that is not pinned');
    t.same(seen.found, [1, 2, 3], 'the driver works as before');
  })(t),
);
