import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { thisEngine } from '../../src/runtime/backends/wasm/engine.js';
import type { ProbeAnswer } from '../../src/runtime/backends/wasm/probe-answers.js';
import { type NoProbe, PROBE_VARIABLE, probeKernels } from '../../src/runtime/backends/wasm/probe-kernels.js';
import { reportProbe } from '../../src/runtime/backends/wasm/report-probe.js';
import { runNode } from '../run-node.js';

const DRIVER = fileURLToPath(new URL('probe-driver.js', import.meta.url));

/** What becomes of a probe whose script is `text`. */
async function probe(text: string, limitMs = 30_000): Promise<ProbeAnswer | NoProbe> {
  const cwd = t.testdir({ 'probe.mjs': text });
  const { out, err } = await runNode([DRIVER, join(cwd, 'probe.mjs'), String(limitMs)], { cwd });
  if (err !== '') throw new Error(err);
  return JSON.parse(out);
}
const says = (report: unknown) => `process.stdout.write(${JSON.stringify(JSON.stringify(report))});`;

t.test('a probe that ends well says what it found', async (t) => {
  t.same(await probe(says({ probe: 'wide', wrong: null })), { outcome: 'good', detail: '' });
  t.same(await probe(says({ probe: 'wide', wrong: 'a product' })), { outcome: 'wrong', detail: 'a product' });
  t.same(await probe(says({ probe: 'wide', wrong: null, failed: 'no file' })), {
    outcome: 'failed',
    detail: 'no file',
  });
});

t.test('a probe that dies is told from one that somebody ended', async (t) => {
  t.match(await probe('process.abort()'), { outcome: 'died', detail: /^SIGABRT/ });
  for (const signal of ['SIGTRAP', 'SIGSEGV', 'SIGILL']) {
    t.match(await probe(`process.kill(process.pid, '${signal}')`), { outcome: 'died', detail: new RegExp(signal) });
  }
  t.match(await probe("console.error('# Check failed: feedback != end.'); process.abort()"), {
    outcome: 'died',
    detail: 'SIGABRT: Check failed: feedback != end.',
  });
  t.match(await probe(`${says({ probe: 'wide', wrong: null })} process.exitCode = 3`), {
    outcome: 'died',
    detail: /exit code 3/,
  });
  t.match(await probe("throw new RangeError('out of memory')"), {
    outcome: 'died',
    detail: /code 1: RangeError: out of/,
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL']) {
    t.match(await probe(`process.kill(process.pid, '${signal}'); setInterval(() => {}, 1000)`), {
      outcome: 'failed',
      detail: new RegExp(signal),
    });
  }
});

t.test('a probe that hangs is ended', async (t) => {
  for (const body of ['setInterval(() => {}, 1000)', 'for (;;);']) {
    t.same(await probe(body, 300), { outcome: 'hung', detail: '300 ms' });
  }
});

t.test('a probe that answers something else is not believed', async (t) => {
  const rubbish = ['', says(null), says(7), says({ probe: 'plain', wrong: null }), says({ probe: 'wide' })];
  rubbish.push("console.log('ok')", 'process.stdout.write(\'\\x1b[31m{"probe":"wide","wrong":null}\')');
  for (const body of rubbish) {
    const answer = await probe(body);
    t.match(answer, { outcome: 'wrong', detail: /^it answered / }, body);
    t.match(answer.detail, /^[\x20-\x7e]{0,300}$/, 'and nothing of it can disturb a terminal');
  }
  t.match(await probe("process.stdout.write('x'.repeat(1e6))"), { outcome: 'wrong', detail: /^it answered "x{280,}$/ });
  const unknown = `console.error('Error: unrecognized flag --experimental-y'); ${says({ probe: 'wide', wrong: null })}`;
  t.match(await probe(unknown), { outcome: 'wrong', detail: /unrecognized flag --experimental-y/ });
});

t.test('a probe that cannot be started says so', async (t) => {
  t.match(await probeKernels('wide', { script: '/no/such/probe.js' }), { outcome: 'failed', detail: /not there/ });
  const before = process.execPath;
  t.teardown(() => {
    process.execPath = before;
  });
  process.execPath = '/no/such/node';
  t.match(await probeKernels('wide'), { outcome: 'failed', detail: /ENOENT/ });
});

t.test('a probe has the variant and a mark, and none of the loaders of its parent', async (t) => {
  const found =
    'process.env.NODE_OPTIONS, process.env.NODE_V8_COVERAGE, process.env.MONOLITH_KERNEL_PROBE, process.argv[2]';
  const answer = await probe(`process.stdout.write(JSON.stringify({ probe: 'wide', wrong: [${found}].join() }))`);
  t.equal(PROBE_VARIABLE, 'MONOLITH_KERNEL_PROBE');
  t.same(answer, { outcome: 'wrong', detail: ',,1,wide' });
});

t.test('the probe itself tries builds as a process would', async (t) => {
  t.same(await probeKernels('plain', { limitMs: 30_000 }), { outcome: 'good', detail: '' });
  const wide = await probeKernels('wide', { limitMs: 30_000 });
  if (thisEngine.v8 < 13) t.match(wide, { outcome: 'wrong', detail: /does not join vectors/ });
  else if (thisEngine.arch === 'x64') t.match(wide, { outcome: 'good' });
  t.match(await reportProbe('quick'), { probe: 'quick', failed: /no such build/ });
  t.match(await reportProbe(undefined), { failed: /no such build/ });
});
