/** @file Tests of sessions that are not about a backend, run once more on the GPU backend with the simulated driver. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { withSimulated } from './simulated.js';

const FILES = [
  'runtime/random-graphs',
  'sparse/pooling',
  'sparse/embedding-ops',
  'sparse/id-blocks',
  'sparse/banked-training',
];
/** Of those the ones whose tables can be on the device. */
const WITH_TABLES = ['sparse/pooling', 'sparse/id-blocks'];
const LIMIT_MS = 300_000;

t.setTimeout(LIMIT_MS);
for (const [file, tables] of [...FILES.map((name) => [name, ''] as const), ...WITH_TABLES.map((name) => [name, '1'])]) {
  t.test(
    `${file} on the GPU backend${tables && ', with tables there'}`,
    withSimulated(async (t) => {
      const path = fileURLToPath(new URL(`../${file}.test.js`, import.meta.url));
      const env = {
        ...process.env,
        MONOLITH_TEST_BACKENDS: 'cuda',
        MONOLITH_CUDA_DRIVER: 'sim',
        MONOLITH_TEST_GPU_TABLES: tables,
      };
      const { status, stdout } = spawnSync(process.execPath, [path], { env, encoding: 'utf8', timeout: LIMIT_MS });
      t.equal(status, 0, status === 0 ? file : stdout.slice(-4000));
      const [, sessions] = /^# sessions of cuda: (\d+)$/m.exec(stdout) ?? [];
      t.ok(Number(sessions) > 0, `${sessions} sessions had the GPU backend`);
    }),
  );
}
