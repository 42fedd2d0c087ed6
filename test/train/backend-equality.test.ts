import t from 'tap';
import { trainFfm } from './ffm-run.js';

const LOSS_TOLERANCE = 1e-6;

for (const threads of [1, 2]) {
  t.test(`the kernels and the plain reference give the same losses, threads: ${threads}`, async (t) => {
    const wasm = await trainFfm({ steps: 100, session: { backend: 'wasm', threads } });
    const reference = await trainFfm({ steps: 100, session: { backend: 'reference', threads } });
    t.equal(wasm.length, 100);
    t.equal(reference.length, 100);
    const apart = Math.max(...wasm.map((loss, step) => Math.abs(loss - reference[step]!)));
    t.ok(apart <= LOSS_TOLERANCE, `largest difference ${apart}`);
    t.ok(wasm.at(-1)! < wasm[0]!, 'and they fall');
  });
}

t.test('steps are the same bits for any number of threads when asked for, else for the same number', async (t) => {
  const run = (threads: number, deterministic: boolean) => trainFfm({ steps: 20, session: { threads, deterministic } });
  const one = await run(1, true);
  for (const threads of [2, 5]) t.same(await run(threads, true), one, `${threads} threads`);
  t.same(await run(3, false), await run(3, false));
});
