/**
 * @file How much of the memory traffic of gathers is useful, by the counters of the simulator: a prediction, not a
 * timing.
 */
import t from 'tap';
import { BLOCK_THREADS, CUDA_KERNELS } from '../../src/runtime/backends/cuda/launch-table.js';
import { randomFloats, randomInts, type SimulatedDriver, upload, withSimulated } from './simulated.js';
import { ptxOf } from './twin.js';

const SECTOR_BYTES = 32;
const [BAGS, UNIQUE] = [2048, 3000];

/**
 * Bags of 0 to 11 ids; the share of sector bytes that the sums need: ids and rows once per use, splits and results
 * once.
 */
function usefulShare(driver: SimulatedDriver, dim: number): number {
  const kernel = driver.loadModule('sparse', ptxOf('sparse')).kernel('poolSumRowsF32');
  const sizes = randomInts(BAGS, 12, 5);
  const splits = Uint32Array.from({ length: BAGS + 1 }, () => 0);
  for (let i = 0; i < BAGS; i++) splits[i + 1] = splits[i]! + sizes[i]!;
  const ids = splits[BAGS]!;
  const table = upload(driver, randomFloats(UNIQUE * dim));
  const [inverse, rows] = [upload(driver, randomInts(ids, UNIQUE, 9)), upload(driver, splits)];
  const out = driver.alloc(BAGS * dim * 4);
  driver.simulator.configure({ counters: true });
  driver.simulator.resetCounters(kernel);
  const numbers = [0, dim, 0, 0, BAGS, dim, 0, dim];
  const grid = CUDA_KERNELS.get('poolSumRowsF32')!.grid(numbers, 40);
  using stream = driver.stream();
  kernel.launch(stream, { grid, block: BLOCK_THREADS }, [table, dim, inverse, rows, BAGS, dim, out, dim]);
  stream.synchronize();
  const needed = 4 * (ids * dim + ids + BAGS + 1 + BAGS * dim);
  return needed / (driver.simulator.counters(kernel).globalSectors * SECTOR_BYTES);
}

t.test('gathers use most of the sectors they touch: 70% of them at dim 16, 85% at dim 64', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    for (const [dim, least] of [
      [16, 0.7],
      [64, 0.85],
    ] as const) {
      const share = usefulShare(driver, dim);
      t.ok(share >= least && share <= 1, `${(share * 100).toFixed(1)}% at dim ${dim}`);
    }
  })(t),
);
