/** @file Training on the GPU backend gives the same bits in every run, in whatever order the device does its work. */
import t from 'tap';
import type { SimulatorControls } from '../../src/runtime/backends/cuda/simulator.js';
import { withSession } from '../runtime/with-session.js';
import { trainFfm } from '../train/ffm-run.js';
import { DIM, IDS, ROWS, raggedBatch, raggedModel, rowsOf } from './ragged-model.js';
import { DEFAULTS, type SimulatedDriver, withSimulated } from './simulated.js';

const CUDA = { backend: 'cuda', cuda: { driver: 'sim' } } as const;

/** Orders of blocks, warps and lanes, work that is done late among them. */
const SCHEDULES: readonly SimulatorControls[] = [
  { seed: 5, residentBlocks: 4, quantum: 64 },
  { seed: 23, residentBlocks: 3, quantum: 7, lazyStreams: true },
  { seed: 71, residentBlocks: 4, quantum: 16, splitLanes: true },
];

/** What `run` gives under every schedule, the usual one first. */
async function underSchedules<T>(driver: SimulatedDriver, run: () => Promise<T>): Promise<T[]> {
  const results = [await run()];
  for (const schedule of SCHEDULES) {
    driver.simulator.configure({ ...DEFAULTS, ...schedule });
    results.push(await run());
  }
  return results;
}

t.test(
  'ragged lookups summed, averaged and cut: the same losses and rows, bit for bit',
  withSimulated(async (t, driver) => {
    const results = await underSchedules(driver, async () => {
      const { graph, loss, config, train } = raggedModel();
      const losses: number[] = [];
      let rows: number[] = [];
      await withSession(graph, { ...CUDA, seed: 1, batchSize: ROWS }, async (session) => {
        for (let step = 0; step < 6; step++)
          losses.push((await session.run([loss, train], raggedBatch(step)))[0] as number);
        rows = rowsOf(session, config);
      });
      return { losses, rows };
    });
    t.equal(new Set(results[0]!.losses).size, 6, 'losses move');
    t.ok(results[0]!.rows.length >= IDS * DIM);
    for (const [index, result] of results.entries()) t.same(result, results[0], `schedule ${index}`);
  }),
);

t.test(
  'the demo model: the same losses, bit for bit',
  withSimulated(async (t, driver) => {
    const results = await underSchedules(driver, () => trainFfm({ steps: 12, session: CUDA }));
    for (const [index, losses] of results.entries()) t.same(losses, results[0], `schedule ${index}`);
  }),
);
