import t from 'tap';
import { awayFromZero, prepareDifferences } from '../graph/differences.js';
import { stream } from '../kernels/both.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';
import { CASES, D, type Example, inputs, N } from './cases.js';
import { range, type Weights } from './plain.js';

const ROWS = 4;

function feedsOf(seed: number): Record<string, Float32Array> {
  const next = stream(seed);
  return {
    x: awayFromZero(next, ROWS * D),
    s: awayFromZero(next, ROWS * N * D),
    m: Float32Array.of(1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0),
  };
}

function exampleOf(feeds: Record<string, Float32Array>, r: number): Example {
  const s = range(N).map((n) => [...feeds.s!.subarray((r * N + n) * D, (r * N + n + 1) * D)]);
  return { x: [...feeds.x!.subarray(r * D, (r + 1) * D)], s, m: [...feeds.m!.subarray(r * N, (r + 1) * N)] };
}

for (const backend of BACKENDS) {
  t.test(`layers give what is computed by hand, with the gradients that differences show (${backend})`, async (t) => {
    const i = inputs();
    const feeds = feedsOf(21);
    const options = { rows: ROWS, step: 0.004, tolerance: 6e-3, fixed: { m: feeds.m! } };
    // One graph for all of them: each has its variables in a scope of its own.
    const cases = Object.entries(CASES).map(([name, { build, plain }], index) => {
      const scope = `case_${index}`;
      const out = i.graph.nameScope(scope, () => build(i));
      return { name, scope, plain, out, check: prepareDifferences(out, options) };
    });
    await withSession(i.graph, { backend, batchSize: ROWS, memoryBytes: 256 << 20 }, async (session) => {
      for (const { name, scope, plain, out, check } of cases) {
        const weights: Weights = (variable) => [...(session.readVariable(`${scope}/${variable}`) as Float32Array)];
        const found = (await session.run([out], feeds))[0] as Float32Array;
        const expected = range(ROWS).flatMap((r) => plain(exampleOf(feeds, r), weights));
        t.equal(found.length, expected.length, name);
        const isNear = (value: number, k: number) => Math.abs(value - found[k]!) < 3e-5 * Math.max(1, Math.abs(value));
        const far = expected.findIndex((value, k) => !isNear(value, k));
        t.equal(far, -1, `${name}: element ${far} is ${found[far]}, not ${expected[far]}`);
        t.same(await check(session), [], `gradients of ${name}`);
      }
    });
  });
}
