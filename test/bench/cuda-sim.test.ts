import t from 'tap';
import { runCudaSimBench } from '../../bench/cuda-sim.js';
import { withSimulated } from '../cuda/simulated.js';

t.test('the bench of the simulated CUDA driver runs every case at a small size', (t) =>
  withSimulated<typeof t>(async (t) => {
    const { kernels, launchUs } = await runCudaSimBench({ quick: true });
    t.equal(kernels.length, 6);
    for (const { name, threadMillions, rates } of kernels) {
      t.ok(threadMillions > 0 && Object.values(rates).every((rate) => rate > 0), `${name} was measured`);
    }
    t.ok(launchUs >= 0);
  })(t),
);
