import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type FlagState, V8Flags, wasmFlagsOf } from '../../src/runtime/backends/wasm/v8-flags.js';

function recorded(state: Partial<FlagState> = {}) {
  const calls: string[] = [];
  return { calls, flags: new V8Flags({ set: (flag) => calls.push(flag), v8: 13, ...state }) };
}

t.test('flags are set for the call and set back in the opposite order', async (t) => {
  const { calls, flags } = recorded();
  const result = flags.during(['no-wasm-deopt', 'no-liftoff', 'experimental-x'], () => {
    calls.push('body');
    return 7;
  });
  t.equal(result, 7);
  t.same(calls, [
    ...['--no-wasm-deopt', '--no-liftoff', '--experimental-x', 'body'],
    ...['--no-experimental-x', '--liftoff', '--wasm-deopt'],
  ]);
});

t.test('all are set back when the call throws, and when one of them cannot be set', async (t) => {
  const { calls, flags } = recorded();
  const fail = () => {
    throw new Error('no compile');
  };
  t.throws(() => flags.during(['no-liftoff', 'wasm-tiering-budget=7', 'x'], fail), { message: 'no compile' });
  t.same(calls.slice(3), ['--no-x', '--wasm-tiering-budget=13000000', '--liftoff']);
  const set: string[] = [];
  const stubborn = recorded({
    set: (flag) => {
      if (flag === '--y') throw new Error('frozen');
      set.push(flag);
    },
  });
  t.throws(() => stubborn.flags.during(['no-liftoff', 'y'], () => t.fail('ran')), { message: 'frozen' });
  t.same(set, ['--no-liftoff', '--no-y', '--liftoff']);
});

t.test('calls within calls go back to what the outer one set', async (t) => {
  const { calls, flags } = recorded();
  flags.during(['no-liftoff'], () => flags.during(['liftoff', 'no-liftoff'], () => calls.push('body')));
  t.same(calls, ['--no-liftoff', '--liftoff', '--no-liftoff', 'body', '--liftoff', '--no-liftoff', '--liftoff']);
});

t.test('a number is left alone where what it was is not known', async (t) => {
  const { calls, flags } = recorded({ v8: 99 });
  t.equal(
    flags.during(['wasm-tiering-budget=7'], () => 3),
    3,
  );
  t.same(calls, []);
});

t.test('flags that bear on WebAssembly are found in NODE_OPTIONS and on the command line', async (t) => {
  t.same(wasmFlagsOf(['--liftoff', '--max-old-space-size=9'], ' --no-liftoff  --require ./wasm.js'), [
    '--no-liftoff',
    '--liftoff',
  ]);
  for (const flag of ['--wasm-deopt', '--no_wasm_deopt', '--jitless', '--no-enable-avx2', '--enable_fma3']) {
    t.same(wasmFlagsOf([flag]), [flag]);
  }
  t.same(wasmFlagsOf(['--experimental-wasm-modules', '--inspect', 'wasm']), []);
});

/** What V8 has its flags at after `work`, in a process of its own: asked for help it prints them. */
function flagsAfter(work: string, args: readonly string[]): string[] {
  const module = JSON.stringify(new URL('../../src/runtime/backends/wasm/choose-kernels.js', import.meta.url));
  const program = `
    import { setFlagsFromString } from 'node:v8';
    const { chooseKernels } = await import(${module});
    ${work}
    setFlagsFromString('--help');`;
  const dir = t.testdir();
  // To a file: V8 ends the process without waiting for a pipe.
  const file = join(dir, 'flags');
  const out = openSync(file, 'w');
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stderr } = spawnSync(process.execPath, [...args, '--input-type=module', '-e', program], {
    stdio: ['ignore', out, 'pipe'],
    env: { ...env, XDG_CACHE_HOME: dir },
    timeout: 60_000,
  });
  closeSync(out);
  const flags = [...readFileSync(file, 'utf8').matchAll(/default: (--\S+)/g)].map((match) => match[1]!);
  t.ok(flags.length > 300, `flags were printed; ${stderr}`);
  return flags;
}

t.test('choosing among all builds changes no flag of the process, whatever it was started with', async (t) => {
  const all = `for (const kernels of ['plain', 'relaxed', undefined, 'wide']) {
    await chooseKernels({ kernels }).catch(({ code }) => { if (code !== 'ML_KERNELS') throw new Error(code) });
  }`;
  for (const args of [[], ['--no-liftoff', '--wasm-tiering-budget=777']]) {
    t.same(flagsAfter(all, args), flagsAfter('', args), args.join(' '));
  }
});
