import { fileURLToPath } from 'node:url';
import t from 'tap';
import { runNode } from '../run-node.js';
import { READER_NAMES, type ReaderReport } from './readers.js';
import { FAULTS, SEED } from './rounds.js';

const PROGRAM = fileURLToPath(new URL('./readers.js', import.meta.url));
/** Inputs of each reader in a plain run; MONOLITH_FAULTS=200 makes them a hundred thousand. */
const COUNT = 500;
/** Inputs of one process, which has a limit on its time: the slowest reader takes half of it on a busy machine. */
const COUNT_EACH = 1_000;
/**
 * Pages that are left to hyparquet may claim runs of any length, which it writes down until memory is full: about one
 * input in thousands. Until its runs are held to the page, these inputs are the same each time.
 */
const PARQUET_SEED = Number(process.env.MONOLITH_FAULTS_SEED ?? 1);
const PEAK_BYTES_MAX = 400 << 20;

t.setTimeout(600_000 * FAULTS);

for (const name of READER_NAMES) {
  t.test(`${name}: damaged inputs are read or refused with a code, in bounded memory and time`, async (t) => {
    let [attempts, loads, slowest] = [0, 0, 0];
    const seed = name === 'parquet' ? PARQUET_SEED : SEED;
    for (let done = 0; done < COUNT * FAULTS; done += COUNT_EACH) {
      const count = Math.min(COUNT_EACH, COUNT * FAULTS - done);
      const cwd = t.testdir();
      const args = ['--max-old-space-size=256', PROGRAM, cwd, String(seed + done), String(count), name];
      const ended = await runNode(args, { cwd });
      t.equal(ended.code, 0, `seed ${seed + done}: ${ended.err}`);
      const report = JSON.parse(ended.out) as ReaderReport;
      t.same(report.failures, [], `seed ${seed + done}`);
      t.equal(report.attempts, count);
      t.ok(report.peakBytes < PEAK_BYTES_MAX, `${report.peakBytes >> 20} MiB`);
      attempts += report.attempts;
      loads += report.loads;
      slowest = Math.max(slowest, report.slowestMs);
    }
    t.ok(attempts - loads > attempts / 4, 'many of them were refused');
    t.comment(`${attempts} damaged inputs: ${loads} read, the others refused, slowest ${Math.round(slowest)} ms`);
  });
}
