import t from 'tap';
import { runCudaSimBench } from '../../bench/cuda-sim.js';
import { withSimulated } from '../cuda/simulated.js';

const isMeasured = (value: number) => value > 0 && Number.isFinite(value);

t.test('the bench of the simulated CUDA driver runs every case at a small size', (t) =>
  withSimulated<typeof t>(async (t) => {
    const { kernels, launchUs } = await runCudaSimBench({ quick: true });
    t.equal(kernels.length, 6);
    for (const { name, threadMillions, rates } of kernels) {
      t.ok([threadMillions, ...Object.values(rates)].every(isMeasured), `${name} was measured`);
    }
    t.ok(isMeasured(launchUs), 'so was a launch');
  })(t),
);
