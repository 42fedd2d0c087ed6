import t from 'tap';
import { Graph } from '../../src/graph/graph.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { placeholder, variable } from '../../src/graph/ops/state.js';
import { askedVariant, chooseKernels } from '../../src/runtime/backends/wasm/choose-kernels.js';
import { type Engine, thisEngine } from '../../src/runtime/backends/wasm/engine.js';
import { KernelSelfTest } from '../../src/runtime/backends/wasm/kernel-self-test.js';
import { KERNEL_VARIANTS } from '../../src/runtime/backends/wasm/kernel-variants.js';
import { permitExperiment } from '../../src/runtime/backends/wasm/permit-experiment.js';
import { type Asked, tryBuilds } from '../../src/runtime/backends/wasm/try-builds.js';
import { RELAXED_SIMD } from '../../src/runtime/backends/wasm/wasm-features.js';
import { Session, type SessionOptions } from '../../src/runtime/session/session.js';
import { withSession } from './with-session.js';

const refuses = async (run: () => Promise<unknown>, reason: RegExp) => {
  await t.rejects(run(), { code: 'ML_KERNELS', message: reason });
};
// What has to be probed here is, and no user's folder is touched.
process.env.XDG_CACHE_HOME = t.testdir();
const chooseFor = (engine: Engine, asked: Asked | null) => tryBuilds(engine, asked, permitExperiment);
const noRelaxed: Engine = { ...thisEngine, validate: (module) => module !== RELAXED_SIMD };

t.test('who asks for a build gets it, and the name is checked', async (t) => {
  t.equal(askedVariant({}, undefined), null);
  t.equal(askedVariant({}, ''), null, 'an empty variable is none');
  t.same(askedVariant({}, 'relaxed'), { variant: 'relaxed', by: 'MONOLITH_KERNELS' });
  t.match(askedVariant({ kernels: 'plain' }, 'relaxed'), { variant: 'plain' }, 'the option goes before the variable');
  t.match(askedVariant({ deterministic: true }, undefined), { variant: 'plain', by: 'deterministic' });
  t.match(askedVariant({ deterministic: true }, 'plain'), { variant: 'plain' });
  t.throws(() => askedVariant({}, 'fast'), { code: 'ML_KERNELS', hint: /plain, relaxed, wide/ });
  t.throws(() => askedVariant({ deterministic: true }, 'wide'), { code: 'ML_KERNELS', message: /deterministic/ });
});

t.test('an engine without relaxed SIMD runs on plain kernels and says why', async (t) => {
  t.match(await chooseFor(noRelaxed, null), { variant: 'plain', why: /not relaxed: .* no relaxed SIMD/ });
  for (const variant of ['relaxed', 'wide'] as const) {
    await refuses(() => chooseFor(noRelaxed, { variant, by: 'a test' }), /no relaxed SIMD/);
  }
  t.match(await chooseFor(noRelaxed, { variant: 'plain', by: 'a test' }), { variant: 'plain', why: /by a test/ });
});

t.test('an engine that does not join vectors runs on relaxed kernels', async (t) => {
  const best = await chooseKernels();
  if (best.variant === 'plain') {
    t.comment('this engine has no relaxed SIMD');
    return;
  }
  // Before version 12 relaxed SIMD is behind a flag, which the version decides about.
  const old: Engine = { ...thisEngine, v8: Math.min(12, thisEngine.v8) };
  t.match(await chooseFor(old, null), { variant: 'relaxed', why: /not wide: V8 \d+ does not join/ });
  await refuses(() => chooseFor(old, { variant: 'wide', by: 'a test' }), /does not join/);
  if (thisEngine.v8 < 13) return;
  t.match(await chooseFor({ ...thisEngine, arch: 'arm64' }, null), { variant: 'relaxed', why: /arm64/ });
});

t.test('what is no experiment of the engine is not tested, and the rest is, once', async (t) => {
  if ((await chooseKernels()).variant === 'plain') {
    t.comment('this engine has no relaxed SIMD');
    return;
  }
  const tests = async (engine: Partial<Engine>) => {
    let count = 0;
    const counting: Engine = {
      ...thisEngine,
      ...engine,
      withFlags: (flags, body) => {
        if (flags.includes('no-liftoff')) count++;
        return thisEngine.withFlags(flags, body);
      },
    };
    const { variant } = await chooseFor(counting, null);
    return { variant, count };
  };
  // Of its own version an engine has what it has: behind a flag in 11, by itself in 12, to be joined from 13 on.
  const expected = thisEngine.v8 === 11 ? 1 : thisEngine.v8 === 12 || thisEngine.arch !== 'x64' ? 0 : 2;
  t.equal((await tests({})).count, expected);
  if (thisEngine.v8 > 12) t.same(await tests({ arch: 'arm64' }), { variant: 'relaxed', count: 0 });
  const before = chooseKernels();
  t.equal(chooseKernels(), before, 'a process chooses once');
});

t.test('a build that the self-test finds slow or wrong is not taken', async (t) => {
  const { module } = await chooseKernels();
  const [one, other] = [new KernelSelfTest(module), new KernelSelfTest(module)];
  t.ok(one.timeOver(other, thisEngine.now) > 0);
  t.ok(one.equals(other));
  if (thisEngine.v8 < 13) return;
  // A clock that stands still while the relaxed kernels run, every other time.
  let calls = 0;
  const slow: Engine = { ...thisEngine, now: () => (calls++ % 4 < 2 ? calls : 0) };
  t.match(await chooseFor(slow, null), { variant: 'relaxed', why: /of the time of the relaxed kernels/ });
});

t.test('a choice is made once, and a session says which', async (t) => {
  t.equal((await chooseKernels()).module, (await chooseKernels()).module);
  for (const variant of KERNEL_VARIANTS) {
    const chosen = await chooseKernels({ kernels: variant }).catch((error) => {
      t.equal(error.code, 'ML_KERNELS');
      return undefined;
    });
    if (chosen === undefined) continue;
    t.equal(chosen.variant, variant);
    const session = await Session.create(new Graph(), {
      schema: [],
      batchSize: 1,
      threads: 1,
      kernels: variant,
      memoryBytes: 8 << 20,
    });
    t.equal(session.kernelVariant, variant);
    await session.close();
  }
  const session = await Session.create(new Graph(), {
    schema: [],
    batchSize: 1,
    threads: 1,
    deterministic: true,
    memoryBytes: 8 << 20,
  });
  t.equal(session.kernelVariant, 'plain');
  await session.close();
});

t.test('threads of a session run the build that was chosen', async (t) => {
  const graph = new Graph();
  const [rows, inputs, outputs] = [37, 90, 21];
  const x = placeholder(graph, { name: 'x', width: inputs });
  const weights = Float32Array.from({ length: inputs * outputs }, (_, i) => Math.sin(i));
  const product = matMul(x, variable(graph, { name: 'w', shape: [inputs, outputs], initial: () => weights }));
  const values = Float32Array.from({ length: rows * inputs }, (_, i) => Math.cos(i * 1.7));
  const run = (options: Partial<SessionOptions>) =>
    withSession(graph, { batchSize: rows, ...options }, async (session) => {
      const [found] = await session.run([product], { x: values });
      return (found as Float32Array).slice();
    });
  const plain = await run({ backend: 'reference' });
  t.same(await run({ kernels: 'plain' }), plain, 'plain is the reference bit for bit');
  t.same(await run({ deterministic: true, threads: 3 }), plain, 'and so is deterministic');
  const { variant } = await chooseKernels();
  const best = await run({});
  t.ok(
    best.every((value, i) => Math.abs(value - plain[i]!) < 1e-4),
    `${variant} is close`,
  );
  t.same(await run({ threads: 3 }), best, 'rows do not depend on the slice they are in');
  if (variant === 'wide') t.same(await run({ kernels: 'relaxed' }), best, 'relaxed and wide are the same bits');
});
