import t from 'tap';
import { runGemmBench } from '../../bench/gemm.js';

t.test('the bench of matrix products runs every product and build at a small size', async (t) => {
  const { results, blas, missing, first } = await runGemmBench({ quick: true });
  t.equal(results.length, 12);
  t.equal(Object.keys(missing).length + Object.keys(first).length, 3, 'every build ran or is said not to');
  for (const { name, variants } of results) {
    const measured = Object.values(variants);
    t.equal(measured.length, Object.keys(first).length);
    for (const { gflops, overBlas } of measured) t.ok(gflops > 0 && (!blas || overBlas! > 0), `${name} was measured`);
  }
});
