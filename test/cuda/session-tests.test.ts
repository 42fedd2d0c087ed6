/**
 * @file Tests of sessions that are not about a backend, run once more on the GPU backend with the simulated driver,
 * whose streams run late: some of the files in an order of its own each; in a deep run all of them in two orders, or in
 * as many as MONOLITH_TEST_STREAM_ORDERS says.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { DEEP } from '../support/rounds.js';
import { withSimulated } from './simulated.js';
import { STREAM_ORDERS } from './stream-orders.js';

const FILES = [
  'runtime/random-graphs',
  'runtime/needed-feeds',
  'runtime/fed-counter',
  'sparse/request-time',
  'train/modes',
  'train/run-ahead-schedules',
  'sparse/pooling',
  'sparse/embedding-ops',
  'sparse/id-blocks',
  'sparse/banked-training',
  'oracle64/random-graphs',
];
/** Of those the ones whose tables can be on the device. */
const WITH_TABLES = ['sparse/request-time', 'sparse/pooling', 'sparse/id-blocks', 'oracle64/random-graphs'];
/** What a plain run takes: graphs drawn at random, and rows in all places they can be in. */
const QUICK = ['runtime/random-graphs', 'sparse/banked-training', 'sparse/pooling 1', 'oracle64/random-graphs 1'];
/** Of one of them. */
const LIMIT_MS = 300_000;

t.setTimeout(2 * LIMIT_MS);
const isWhole = DEEP || process.env.MONOLITH_TEST_STREAM_ORDERS !== undefined;
const runs = [...FILES.map((name) => [name, ''] as const), ...WITH_TABLES.map((name) => [name, '1'] as const)].filter(
  ([name, tables]) => isWhole || QUICK.includes(`${name} ${tables}`.trim()),
);
/** Orders of a run: one in a plain run, two in a deep one. The first is met only by those that meet all. */
const ordersOf = (run: number) =>
  process.env.MONOLITH_TEST_STREAM_ORDERS !== undefined
    ? STREAM_ORDERS
    : Array.from(
        { length: DEEP ? 2 : 1 },
        (_, more) => STREAM_ORDERS[1 + ((run + more) % (STREAM_ORDERS.length - 1))]!,
      );
const all = runs.flatMap(([file, tables], run) => ordersOf(run).map((order) => ({ file, tables, order })));
for (const { file, tables, order } of all) {
  t.test(
    `${file} on the GPU backend${tables && ', with tables there'}, streams in order ${order}`,
    withSimulated(async (t) => {
      const path = fileURLToPath(new URL(`../${file}.test.js`, import.meta.url));
      const env = {
        ...process.env,
        // Orders are what is looked for here: more rounds of each are made on the CPU.
        MONOLITH_TEST_DEEP: '',
        MONOLITH_TEST_BACKENDS: 'cuda',
        MONOLITH_CUDA_DRIVER: 'sim',
        MONOLITH_TEST_GPU_TABLES: tables,
        PTXSIM_CONTROLS: `lazyStreams=1 streamOrder=${order}`,
      };
      const { status, stdout } = spawnSync(process.execPath, [path], { env, encoding: 'utf8', timeout: LIMIT_MS });
      t.equal(status, 0, status === 0 ? file : stdout.slice(-4000));
      const [, sessions] = /^# sessions of cuda: (\d+)$/m.exec(stdout) ?? [];
      t.ok(Number(sessions) > 0, `${sessions} sessions had the GPU backend`);
    }),
  );
}
