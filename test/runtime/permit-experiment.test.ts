import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Engine, thisEngine } from '../../src/runtime/backends/wasm/engine.js';
import { isKnownGood } from '../../src/runtime/backends/wasm/kernel-experiments.js';
import { permitExperiment, permitWith } from '../../src/runtime/backends/wasm/permit-experiment.js';
import { type ProbeAnswer, ProbeAnswers } from '../../src/runtime/backends/wasm/probe-answers.js';
import { type NoProbe, PROBE_VARIABLE, probeKernels } from '../../src/runtime/backends/wasm/probe-kernels.js';
import { questionOf } from '../../src/runtime/backends/wasm/probe-question.js';
import { tryBuilds } from '../../src/runtime/backends/wasm/try-builds.js';
import { missing } from '../requirement.js';

/** An engine that no list knows. */
const unknown: Engine = { ...thisEngine, version: '99.1.2.3-node.4', v8: 99, arch: 'x64' };
const GOOD: ProbeAnswer = { outcome: 'good', detail: '' };
const DIED: ProbeAnswer = { outcome: 'died', detail: 'SIGTRAP: Check failed: x' };
const notAsked = { isAsked: false };

/** A permit over a folder of its own, which counts its probes. */
function permitIn(dir: string | null, answer: ProbeAnswer | NoProbe, now = () => 1000) {
  const answers = new ProbeAnswers(dir, now);
  const counted = { probes: 0 };
  const probe = async () => {
    counted.probes++;
    return answer;
  };
  return { answers, counted, permit: permitWith({ answers, probe }) };
}

t.test('what is known to be good is not probed, and only that', async (t) => {
  const node = (version: string): Engine => ({ ...thisEngine, version, v8: Number.parseInt(version, 10) });
  const known = [
    ['11.3.244.8-node.38', 'relaxed'],
    ['12.4.254.21-node.57', 'relaxed'],
    ['14.6.202.34-node.34', 'relaxed'],
    ['13.6.233.17-node.53', 'wide'],
    ['99.0.0.0', 'plain'],
  ] as const;
  for (const [version, variant] of known) {
    t.ok(isKnownGood(node(version), variant), `${variant} on ${version}`);
    t.equal(await permitExperiment(node(version), variant, notAsked), null);
  }
  const others = [
    ['11.8.172.17-node.20', 'relaxed'],
    ['13.6.233.17-electron.0', 'wide'],
    ['14.6.202.34-node.34', 'wide'],
    ['113.6.1-node.1', 'wide'],
  ] as const;
  for (const [version, variant] of others) t.notOk(isKnownGood(node(version), variant), `${variant} on ${version}`);
});

t.test('an answer is remembered, in a folder of the user alone', async (t) => {
  const dir = join(t.testdir(), 'a', 'b');
  const first = permitIn(dir, GOOD);
  const umask = process.umask(0);
  t.teardown(() => process.umask(umask));
  t.equal(await first.permit(unknown, 'wide', notAsked), null);
  t.equal(await first.permit(unknown, 'wide', notAsked), null);
  const second = permitIn(dir, DIED);
  t.equal(await second.permit(unknown, 'wide', notAsked), null, 'by another process too');
  t.same([first.counted.probes, second.counted.probes], [1, 0]);
  const files = readdirSync(dir);
  t.equal(files.length, 1, 'no temporary file is left');
  if (process.platform === 'win32') return;
  t.same([statSync(dir).mode & 0o777, statSync(join(dir, files[0]!)).mode & 0o777], [0o700, 0o600]);
});

t.test('a probe that died, hung or was wrong means a safer build, for good', async (t) => {
  const cases: [ProbeAnswer, RegExp][] = [
    [DIED, /probe on V8 99\.1\.2\.3-node\.4 died: SIGTRAP: Check failed: x/],
    [{ outcome: 'hung', detail: '5000 ms' }, /did not end within 5000 ms/],
    [{ outcome: 'wrong', detail: 'product 3' }, /found it wrong: product 3/],
  ];
  for (const [answer, reason] of cases) {
    const { permit, counted, answers } = permitIn(t.testdir(), answer);
    for (let i = 0; i < 2; i++) {
      const refusal = await permit(unknown, 'wide', { isAsked: i === 1 });
      t.match(refusal, { ok: false, reason });
      t.ok(refusal?.advice?.includes(answers.fileOf(questionOf(unknown, 'wide'))!), 'the file is named');
    }
    t.equal(counted.probes, 1);
  }
});

t.test('a real probe that aborts leaves this process alive, and is remembered', async (t) => {
  const dir = t.testdir({ 'abort.mjs': 'process.abort()' });
  const script = join(dir, 'abort.mjs');
  const answers = new ProbeAnswers(join(dir, 'cache'));
  const permit = permitWith({ answers, probe: (variant) => probeKernels(variant, { script, limitMs: 30_000 }) });
  t.match(await permit(unknown, 'wide', notAsked), { reason: /died: SIGABRT/ });
  rmSync(script);
  t.match(await permit(unknown, 'wide', notAsked), { reason: /died: SIGABRT/ });
});

t.test('what says nothing of the kernels is not remembered', async (t) => {
  const { permit, counted } = permitIn(t.testdir(), { outcome: 'failed', detail: 'EAGAIN' });
  for (let i = 0; i < 2; i++) t.match(await permit(unknown, 'wide', notAsked), { reason: /not be probed.*EAGAIN/ });
  t.equal(counted.probes, 2);
});

t.test('a machine that was too busy is asked again a day later', async (t) => {
  let now = 5e12;
  const { permit, counted } = permitIn(t.testdir(), { outcome: 'hung', detail: '5000 ms' }, () => now);
  const after = async (hours: number) => {
    now = 5e12 + hours * 3600 * 1000;
    await permit(unknown, 'wide', notAsked);
    return counted.probes;
  };
  t.same([await after(0), await after(23), await after(25), await after(20)], [1, 1, 2, 3], 'or by another clock');
});

const withProc = { skip: existsSync('/proc/self') ? false : missing('linux', 'this system has no /proc') };

t.test('a home below which no folder can be made holds nobody up', withProc, async (t) => {
  const refusal = await permitIn('/proc/nobody/.cache/monolith-ts', GOOD).permit(unknown, 'wide', notAsked);
  t.match(refusal, { reason: /the cache folder cannot be written \(.*ENOENT/ });
});

t.test(
  'where nothing can be remembered the safer build is taken, and who asks by name is probed each time',
  async (t) => {
    const file = join(t.testdir({ file: '' }), 'file');
    for (const [dir, reason] of [
      [join(file, 'x'), /cannot be remembered: the cache folder cannot be written \(.*(ENOTDIR|EEXIST)/],
      [null, /cannot be remembered: this user has no cache folder/],
    ] as const) {
      const { permit, counted } = permitIn(dir, GOOD);
      t.match(await permit(unknown, 'wide', notAsked), { reason, advice: /XDG_CACHE_HOME.*MONOLITH_KERNELS=wide/ });
      t.equal(counted.probes, 0, 'a probe would be for nothing');
      t.equal(await permit(unknown, 'wide', { isAsked: true }), null);
      t.equal(await permit(unknown, 'wide', { isAsked: true }), null);
      t.equal(counted.probes, 2);
      t.match(await permitIn(dir, DIED).permit(unknown, 'wide', { isAsked: true }), { reason: /died/ });
    }
  },
);

t.test('an answer that could not be written after all counts as none', async (t) => {
  const { answers } = permitIn(t.testdir(), GOOD);
  answers.write = () => {
    throw new Error('ENOSPC: no space left');
  };
  const permit = permitWith({ answers, probe: async () => GOOD });
  t.match(await permit(unknown, 'wide', notAsked), { reason: /cannot be remembered: ENOSPC/ });
  t.equal(await permit(unknown, 'wide', { isAsked: true }), null);
});

t.test('a damaged or hostile file is passed over, and replaced', async (t) => {
  const dir = t.testdir();
  const { answers, permit } = permitIn(dir, DIED);
  const question = questionOf(unknown, 'wide');
  const file = answers.fileOf(question)!;
  answers.write(question, GOOD);
  const good = readFileSync(file, 'utf8');
  const fields = JSON.parse(good);
  const put = (text: string) => () => writeFileSync(file, text);
  const json = (changes: object) => put(JSON.stringify({ ...fields, ...changes }));
  const cases: Record<string, () => unknown> = {
    empty: put(''),
    'cut off': put(good.slice(0, -20)),
    'not JSON': put('\0'.repeat(300)),
    null: put('null'),
    'a list': put('[]'),
    'too long': put(good + ' '.repeat(1 << 20)),
    'another outcome': json({ outcome: 'splendid' }),
    'a number for an outcome': json({ outcome: 1 }),
    'no detail': json({ detail: undefined }),
    'control characters': json({ detail: '\x1b]0;x\x07' }),
    'a long detail': json({ detail: 'x'.repeat(301) }),
    'no time': json({ at: null }),
    'another V8': json({ question: { ...question, v8: '1' } }),
    'another CPU': json({ question: { ...question, cpu: 'a' } }),
    'other kernels': json({ question: { ...question, kernels: '0' } }),
    'a question within': json({ question: { ...question, __proto__: null, more: 1 } }),
    'a directory': () => mkdirSync(file),
    'a link to nothing': () => symlinkSync('/no/such/file', file),
    'a device without end': () => symlinkSync('/dev/zero', file),
  };
  if (process.platform !== 'win32') {
    cases['a pipe that nobody writes to'] = () => execFileSync('mkfifo', [file]);
    cases['a file that all can write'] = () => {
      writeFileSync(file, good);
      chmodSync(file, 0o666);
    };
  }
  for (const [name, make] of Object.entries(cases)) {
    rmSync(file, { recursive: true, force: true });
    make();
    t.equal(answers.read(question), null, name);
  }
  rmSync(file);
  put(good)();
  t.same(answers.read(question), GOOD, 'the whole file is read');
  put('{')();
  t.match(await permit(unknown, 'wide', notAsked), { reason: /died/ });
  t.same(answers.read(question), DIED);
});

t.test('two that probe at once leave one whole answer', async (t) => {
  const dir = t.testdir();
  const permits = Array.from({ length: 8 }, () => permitIn(dir, GOOD).permit(unknown, 'wide', notAsked));
  t.same(
    await Promise.all(permits),
    permits.map(() => null),
  );
  t.equal(readdirSync(dir).length, 1);
  t.same(permitIn(dir, DIED).answers.read(questionOf(unknown, 'wide')), GOOD);
});

t.test('a question is about the engine, the CPU and the kernels', async (t) => {
  const [wide, relaxed] = [questionOf(unknown, 'wide'), questionOf(unknown, 'relaxed')];
  t.match(wide, { v8: '99.1.2.3-node.4', variant: 'wide', arch: 'x64', cpu: /\S/, kernels: /^[0-9a-f]{64}$/ });
  t.not(wide.kernels, relaxed.kernels);
  t.same(questionOf(unknown, 'wide'), wide, 'it is the same at each start');
  const { answers } = permitIn('/x', GOOD);
  t.not(answers.fileOf(wide), answers.fileOf({ ...wide, cpu: 'another' }));
});

t.test('a process that is a probe starts none', async (t) => {
  process.env[PROBE_VARIABLE] = '1';
  t.teardown(() => delete process.env[PROBE_VARIABLE]);
  t.match(await permitExperiment(unknown, 'wide', { isAsked: true }), { reason: /is a probe itself/ });
});

t.test('without a permit the next safer build is taken, and who insists learns why', async (t) => {
  // Of version 13, whose flags of the relaxed build this engine need not have: nothing is run with them.
  const engine: Engine = { ...thisEngine, version: '13.0.0-node.1', v8: 13, arch: 'x64', noFlags: null };
  const hasRelaxed = thisEngine.v8 >= 12;
  const refusal = { ok: false, reason: 'a probe died', advice: 'remove a file' } as const;
  const permit = async (_: Engine, variant: string) => (variant === 'wide' ? refusal : null);
  const wide = { variant: 'wide', by: 'a test' } as const;
  if (!hasRelaxed) {
    t.match(await tryBuilds(engine, null, permit), { variant: 'plain', why: /no relaxed SIMD/, advice: null });
  } else {
    t.match(await tryBuilds(engine, null, permit), {
      variant: 'relaxed',
      why: 'not wide: a probe died',
      advice: 'remove a file',
    });
    await t.rejects(tryBuilds(engine, wide, permit), {
      code: 'ML_KERNELS',
      message: /a probe died/,
      hint: /remove a file/,
    });
  }
  const none = { ...engine, version: '11.8.0-node.1', v8: 11, validate: () => true };
  t.match(await tryBuilds(none, null, async () => refusal), { variant: 'plain', why: 'not relaxed: a probe died' });
});
