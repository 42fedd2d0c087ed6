import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { runNode } from '../run-node.js';
import { BOMBS } from './bombs.js';

const PROGRAM = fileURLToPath(new URL('./bombs.js', import.meta.url));
/** A process that has loaded the package and read a small checkpoint has about 120 MiB. */
const PEAK_BYTES_MAX = 350 << 20;

for (const [name, make] of Object.entries(BOMBS)) {
  t.test(`${name}: refused with a code, in little memory`, async (t) => {
    const dir = join(t.testdir(), 'm');
    await make(dir);
    const ended = await runNode(['--max-old-space-size=200', PROGRAM, dir], { cwd: t.testdirName });
    t.equal(ended.code, 0, ended.err);
    const { codes, peakBytes } = JSON.parse(ended.out) as { codes: string[]; peakBytes: number };
    t.match(codes, [/^ML_CKPT_(CORRUPT|READ)$/, /^ML_CKPT_(CORRUPT|READ)$/]);
    t.ok(peakBytes < PEAK_BYTES_MAX, `${peakBytes >> 20} MiB`);
  });
}
