import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { withSimulated } from './simulated.js';

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

function train(...args: readonly string[]) {
  const { MONOLITH_CUDA_DRIVER: _, ...env } = process.env;
  const all = [MAIN, 'train', '--steps', '5', '--batch-size', '16', ...args];
  return spawnSync(process.execPath, all, { env, encoding: 'utf8', timeout: 120_000 });
}

t.test(
  'monolith train trains the demo on the simulated driver',
  withSimulated(async (t) => {
    const { status, stdout } = train('--backend', 'cuda', '--cuda-driver', 'sim', '--json');
    t.equal(status, 0, stdout);
    const done = JSON.parse(stdout.trim().split('\n').at(-1)!);
    t.match(done, { event: 'done', step: 5, backend: 'cuda', threads: 1 });
  }),
);

t.test(
  'monolith train keeps tables on the device, with a limit of rows or without',
  withSimulated(async (t) => {
    const cuda = ['--backend', 'cuda', '--cuda-driver', 'sim', '--use-gpu-emb-table'];
    t.match(train(...cuda, '--json'), { status: 0, stdout: /"event":"done"/ });
    t.match(train(...cuda, '--gpu-table-rows', '3'), {
      status: 1,
      stderr: /ML_GPU_TABLE_FULL[\s\S]*--gpu-table-rows\): 16 take \d+ bytes/,
    });
  }),
);

t.test('without the driver it fails at once, with what was tried and what to do', async (t) => {
  const { status, stderr } = train('--backend', 'cuda', '--cuda-driver', '/nowhere/libcuda.so.1');
  t.equal(status, 1);
  t.match(stderr, /ML_CUDA_(DRIVER|ADDON).*(nowhere|not built)/);
  t.match(stderr, /hint: /);
});
