import { spawnSync } from 'node:child_process';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { runDoctorCommand } from '../../src/cli/doctor.js';
import { type Check, runChecks } from '../../src/cli/doctor-checks.js';
import type { DoctorProbes } from '../../src/cli/doctor-probes.js';
import { nativePath } from '../../src/runtime/backends/cuda/native.js';
import { WASM_FEATURES } from '../../src/runtime/backends/wasm/wasm-features.js';
import { missing } from '../requirement.js';
import { FakeIo } from './fake-io.js';

const GIB = 2 ** 30;
const THP = '/sys/kernel/mm/transparent_hugepage/enabled';
const NVIDIA = '/proc/driver/nvidia/version';

/** A machine where all is well. */
const healthy: DoctorProbes = {
  nodeVersion: '20.11.0',
  platform: 'linux',
  arch: 'x64',
  cores: 4,
  cpu: 'Fast 9000',
  totalBytes: 16 * GIB,
  freeBytes: 8 * GIB,
  readText: (path) => (path === THP ? '[always] madvise never' : null),
  validate: () => true,
  loadKernels: async () => ({ variant: 'plain', why: 'asked for', advice: null, count: 12 }),
  canReserve: () => true,
  findProgram: () => null,
  findLibrary: () => null,
  addons: () => [],
  cudaDriver: undefined,
  openCuda: () => new MonolithError('ML_CUDA_DRIVER', { reason: 'none' }, { hint: 'get one' }),
  run: async () => null,
};

async function checkOf(name: string, changes: Partial<DoctorProbes>): Promise<Check | undefined> {
  return (await runChecks({ ...healthy, ...changes })).find((check) => check.name === name);
}

const files = (texts: Record<string, string>): Partial<DoctorProbes> => ({ readText: (path) => texts[path] ?? null });

t.test('a healthy machine has nothing to do', async (t) => {
  const checks = await runChecks(healthy);
  t.ok(checks.length >= 10);
  for (const check of checks) {
    t.equal(check.level, 'ok', check.name);
    t.equal(check.todo, null, check.name);
  }
});

t.test('each thing that is wrong has its level and its advice', async (t) => {
  const fails = async () => {
    throw new Error('no such file');
  };
  const unavailable = async () => {
    throw new MonolithError('ML_KERNELS', { variant: 'wide', reason: 'too old' }, { hint: 'leave it out' });
  };
  const onlySimdMissing = (bytes: Uint8Array) => bytes !== WASM_FEATURES.simd;
  const cases: [string, Partial<DoctorProbes>, Check['level'], RegExp, RegExp][] = [
    ['node', { nodeVersion: '18.20.0' }, 'fail', /18\.20\.0/, /20 or newer/],
    ['wasm simd', { validate: onlySimdMissing }, 'fail', /not supported/, /Node/],
    ['wasm threads', { validate: () => false }, 'fail', /not supported/, /Node/],
    ['wasm bulk memory', { validate: () => false }, 'fail', /not supported/, /Node/],
    ['kernels', { loadKernels: fails }, 'fail', /no such file/, /npm run build/],
    ['kernels', { loadKernels: unavailable }, 'fail', /wide cannot be used: too old/, /leave it out/],
    ['cores', files({ '/sys/fs/cgroup/cpu.max': '150000 100000' }), 'warn', /may use 1\.5/, /--threads 1$/],
    ['cores', { cores: 128 }, 'warn', /128/, /64 threads/],
    ['memory', { freeBytes: 100 * 2 ** 20 }, 'warn', /100\.0 MiB free/, /--vocab/],
    ['memory', files({ '/sys/fs/cgroup/memory.max': '268435456' }), 'warn', /limit 256\.0 MiB/, /raise the limit/],
    ['shared memory', { canReserve: (bytes) => bytes <= GIB }, 'warn', /only 1\.0 GiB/, /ulimit/],
    ['shared memory', { canReserve: () => false }, 'fail', /not even/, /ulimit/],
    ['huge pages', files({ [THP]: 'always [madvise] never' }), 'warn', /madvise/, /tee/],
    ['cuda backend', { cudaDriver: '/x.so' }, 'warn', /cannot be used: none/, /get one/],
    ['cuda backend', { findLibrary: () => '/lib/libcuda.so.1' }, 'warn', /cannot be used: none/, /get one/],
    ['gpu', { findLibrary: () => '/lib/libcuda.so.1' }, 'warn', /CPU backend works/, /ignore/],
  ];
  for (const [name, changes, level, found, todo] of cases) {
    const check = await checkOf(name, changes);
    t.equal(check?.level, level, name);
    t.match(check?.found, found, name);
    t.match(check?.todo, todo, name);
  }
});

t.test('one missing feature does not blame the others', async (t) => {
  const probes = { validate: (bytes: Uint8Array) => bytes !== WASM_FEATURES.simd };
  t.equal((await checkOf('wasm threads', probes))?.level, 'ok');
});

t.test('a whole GPU is named, and huge pages are not asked about where there are none', async (t) => {
  const gpu = await checkOf('gpu', {
    ...files({ [NVIDIA]: 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat\n' }),
    findLibrary: () => '/lib/libcuda.so.1',
    findProgram: (name) => (name === 'nvidia-smi' ? '/bin/nvidia-smi' : null),
    run: async () => 'Tesla T4\nTesla T4\n',
  });
  t.match(gpu, { level: 'ok', found: /535\.104\.05.*Tesla T4, Tesla T4/ });
  t.equal(await checkOf('huge pages', files({})), undefined);
});

t.test('addon, device and compilers are shown and never required', async (t) => {
  t.match(await checkOf('cuda backend', { openCuda: () => 'Tesla T4' }), { level: 'ok', found: 'Tesla T4' });
  t.match(await checkOf('cuda backend', {}), { level: 'ok', found: 'no driver to run on' });
  t.match(await checkOf('cuda backend', { addons: () => ['/x/cuda.node'] }), {
    level: 'ok',
    found: /--cuda-driver sim/,
  });
  t.match(await checkOf('backend auto', { openCuda: () => 'Tesla T4' }), { level: 'ok', found: 'cuda: Tesla T4' });
  t.match(await checkOf('backend auto', {}), {
    level: 'ok',
    found: /^wasm, 4 threads of Fast 9000; not cuda: .*none$/,
  });
  t.match(await checkOf('cores', {}), { found: '4 usable, Fast 9000' });
  t.match(await checkOf('cuda addon', { addons: () => ['/x/cuda.node'] }), { level: 'ok', found: '/x/cuda.node' });
  t.match(await checkOf('compilers', { findProgram: (name) => `/bin/${name}` }), {
    level: 'ok',
    found: /g\+\+ \/bin\/g\+\+, nvcc \/bin\/nvcc/,
  });
});

t.test('the engine tells real feature modules from broken ones', async (t) => {
  for (const [name, bytes] of Object.entries(WASM_FEATURES)) {
    t.equal(WebAssembly.validate(bytes), true, name);
    const broken = bytes.slice();
    broken[broken.length - 1] = 0xff;
    t.equal(WebAssembly.validate(broken), false, `${name} without its end`);
  }
});

t.test('text and JSON agree, and only a failure exits with 1', async (t) => {
  const good = new FakeIo();
  t.equal(await runDoctorCommand({ json: false }, good, { ...healthy, freeBytes: 1 }), 0);
  t.match(good.out.take(), /^ok {4}node[\s\S]*\nwarn {2}memory.*\n +→ .*\n[\s\S]*training works on this machine\n$/);
  const bad = new FakeIo();
  t.equal(await runDoctorCommand({ json: false }, bad, { ...healthy, canReserve: () => false }), 1);
  t.match(bad.out.take(), /\ntraining cannot work: shared memory\n$/);
  const json = new FakeIo();
  t.equal(await runDoctorCommand({ json: true }, json, { ...healthy, nodeVersion: '16.0.0' }), 1);
  t.match(JSON.parse(json.out.take()), { event: 'doctor', ok: false, checks: [{ name: 'node', level: 'fail' }] });
});

t.test('colour marks levels on a terminal', async (t) => {
  const io = new FakeIo({ tty: true });
  await runDoctorCommand({ json: false }, io, healthy);
  t.ok(io.out.take().startsWith('\x1b[32mok  \x1b[39m'));
});

t.test('the build of the kernels is named, and why', async (t) => {
  const kernels = { variant: 'relaxed', why: 'not wide: because', count: 3 } as const;
  const check = await checkOf('kernels', { loadKernels: async () => ({ ...kernels, advice: null }) });
  t.match(check, { level: 'ok', found: 'relaxed (not wide: because), 3 functions', todo: null });
  const better = await checkOf('kernels', { loadKernels: async () => ({ ...kernels, advice: 'do this' }) });
  t.match(better, { level: 'warn', found: 'relaxed (not wide: because), 3 functions', todo: 'do this' });
});

const noAddon = nativePath() === null && missing('cuda', 'the addon is not built');
t.test('the driver that the environment names is opened', { skip: noAddon }, async (t) => {
  const doctor = (driver: string) =>
    spawnSync(process.execPath, ['build/src/cli/main.js', 'doctor'], {
      encoding: 'utf8',
      env: { ...process.env, MONOLITH_CUDA_DRIVER: driver },
    }).stdout;
  t.match(doctor('sim'), /ok +cuda backend +PTX simulator \(not a GPU\), compute capability 7\.5, .*; CUDA 13\.0 of /);
  t.match(doctor('/no/driver.so'), /warn +cuda backend +CUDA driver cannot be used: .*\/no\/driver\.so/);
});

t.test('this machine can train', async (t) => {
  const io = new FakeIo({ env: { PATH: process.env.PATH ?? '' } });
  t.equal(await runDoctorCommand({ json: true }, io), 0, io.out.text);
  const { checks } = JSON.parse(io.out.take()) as { checks: Check[] };
  t.same(
    checks.filter((check) => check.level === 'fail'),
    [],
  );
});
