import { fileURLToPath } from 'node:url';
import t from 'tap';
import { runNode } from '../run-node.js';
import type { FuzzReport } from './fuzz.js';
import { FAULTS, SEED } from './rounds.js';

const PROGRAM = fileURLToPath(new URL('./fuzz.js', import.meta.url));
const ROUNDS = 30;
/** Rounds of one process: the memory it may take is for so many. */
const ROUNDS_EACH = 200;
/** Of one process, which takes a quarter of a minute on a machine that has nothing else to do. */
const PROCESS_LIMIT_MS = 300_000;
const PEAK_BYTES_MAX = 600 << 20;

t.setTimeout(600_000 * FAULTS);

t.test('damaged and hostile files give what was written or an error with a code, in bounded memory', async (t) => {
  for (let done = 0; done < ROUNDS * FAULTS; done += ROUNDS_EACH) {
    const rounds = Math.min(ROUNDS_EACH, ROUNDS * FAULTS - done);
    const dir = t.testdir();
    const args = ['--max-old-space-size=256', PROGRAM, dir, String(SEED + done), String(rounds)];
    const ended = await runNode(args, { cwd: dir, limitMs: PROCESS_LIMIT_MS });
    t.equal(ended.code, 0, `seed ${SEED + done}: ${ended.err}`);
    const report = JSON.parse(ended.out) as FuzzReport;
    const { attempts, loads, codes, failures, slowestMs, peakBytes } = report;
    t.same(failures, [], `seed ${SEED + done}`);
    t.ok(peakBytes < PEAK_BYTES_MAX, `${peakBytes >> 20} MiB`);
    t.ok(attempts >= 20 * rounds, 'files of every format were damaged');
    t.ok(attempts - loads > attempts / 2, 'most of them were refused');
    t.comment(
      `${attempts} damaged files: ${loads} read, ${JSON.stringify(codes)}, slowest ${Math.round(slowestMs)} ms`,
    );
  }
});
