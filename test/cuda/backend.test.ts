import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { Graph } from '../../src/graph/graph.js';
import { sigmoid } from '../../src/graph/ops/activations.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { placeholder, variable } from '../../src/graph/ops/state.js';
import { cpuName } from '../../src/runtime/backends/cpu-name.js';
import { checkDriver, tryInitCuda } from '../../src/runtime/backends/cuda/try-init-cuda.js';
import { Session } from '../../src/runtime/session/session.js';
import { writeChromeTrace } from '../../src/trace/chrome-trace.js';
import { openSession, withSession } from '../runtime/with-session.js';
import { loadBatches, smallSession, trainFfm } from '../train/ffm-run.js';
import { withSimulated } from './simulated.js';

/** What the simulated driver calls its device. */
const SIMULATOR = 'PTX simulator (not a GPU)';
const CUDA = { backend: 'cuda', cuda: { driver: 'sim' } } as const;

/** A layer over `features` inputs. */
function layer(features = 5, outputs = 3) {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: features });
  const w = variable(graph, {
    name: 'w',
    shape: [features, outputs],
    initial: () => new Float32Array(features * outputs).fill(0.25),
  });
  return { graph, y: sigmoid(matMul(x, w)) };
}

t.test('a GPU that is asked for and not there is an error at once, and auto does without', async (t) => {
  const { graph, y } = layer();
  const cuda = { driver: '/nowhere/libcuda.so.1', env: {} };
  await t.rejects(openSession(graph, { backend: 'cuda', cuda }), { code: /^ML_CUDA_(DRIVER|ADDON)$/, hint: /./ });
  t.match(tryInitCuda(cuda), { message: /nowhere|not built/ });
  await withSession(graph, { backend: 'auto', cuda }, async (session) => {
    t.equal(session.backend, 'wasm');
    t.match(session.backendWhy, /^cuda cannot run here: .*(nowhere|not built)/);
    t.equal(session.device, cpuName());
    t.ok(await session.run([y], { x: new Float32Array(5) }));
  });
  const device = { name: 'Old', computeCapability: 70 } as Parameters<typeof checkDriver>[0]['device'];
  const path = 'libcuda.so.1';
  t.throws(() => checkDriver({ version: 10_020, device, path }), { code: 'ML_CUDA_DRIVER', message: /10\.2/ });
  t.throws(() => checkDriver({ version: 12_000, device, path }), {
    code: 'ML_CUDA_DEVICE',
    message: /Old has compute capability 7.0,/,
  });
});

t.test(
  'auto takes a GPU that is there',
  withSimulated(async (t) => {
    const { graph, y } = layer();
    await withSession(graph, { ...CUDA, backend: 'auto' }, async (session) => {
      t.equal(session.backend, 'cuda');
      t.same([session.backendWhy, session.device], [`${SIMULATOR} can run it`, SIMULATOR]);
      const [values] = await session.run([y], { x: new Float32Array(10).fill(1) });
      t.same((values as Float32Array).length, 6);
      t.ok(Math.abs((values as Float32Array)[0]! - 1 / (1 + Math.exp(-1.25))) < 1e-6);
    });
  }),
);

t.test(
  'work that is done only when it is waited for, and any order of blocks, give the same losses',
  withSimulated(async (t, driver) => {
    const plain = await trainFfm({ steps: 12, session: CUDA });
    driver.simulator.configure({ lazyStreams: true, seed: 7, residentBlocks: 3, quantum: 64 });
    const lazy = await trainFfm({ steps: 12, session: CUDA });
    t.ok(Math.max(...plain.map((loss, step) => Math.abs(loss - lazy[step]!))) <= 1e-6);
  }),
);

t.test(
  'kernels and copies are on the timeline, each queue on a line of its own',
  withSimulated(async (t) => {
    const { graph, y } = layer();
    const dir = await mkdtemp(join(tmpdir(), 'cuda-'));
    try {
      await withSession(graph, { ...CUDA, traceEvents: 1024 }, async (session) => {
        for (let step = 0; step < 5; step++) await session.run([y], { x: new Float32Array(10) });
        const file = join(dir, 'trace.json');
        await writeChromeTrace(file, { threads: session.trace.threads, names: session.trace.names, metadata: {} });
        const text = await readFile(file, 'utf8');
        for (const wanted of ['gpu compute', 'gpu copies', 'gemmF32', 'copy to device', 'copy to host']) {
          t.ok(text.includes(wanted), wanted);
        }
      });
    } finally {
      await rm(dir, { recursive: true });
    }
  }),
);

t.test(
  'a model that does not fit the device is refused with the sizes, and leaves nothing behind',
  withSimulated(async (t, driver) => {
    const { freeBytes } = driver.memory();
    const { graph, y } = layer(1000, 1000);
    driver.simulator.configure({ memoryBytes: 3 << 20 });
    const session = await openSession(graph, CUDA);
    await t.rejects(session.run([y], { x: new Float32Array(1000) }), {
      code: 'ML_CUDA_MEMORY',
      message: /4000000 bytes are wanted/,
    });
    await session.close();
    driver.simulator.configure({ memoryBytes: 2 ** 33 });
    t.equal(driver.memory().freeBytes, freeBytes);
  }),
);

t.test(
  'rows that do not fit the device are pooled on the host',
  withSimulated(async (t, driver) => {
    const train = async () => {
      const { graph, loss, trainOp } = buildFfm();
      const session = await Session.create(graph, smallSession(CUDA));
      const batches = loadBatches(session);
      const losses: number[] = [];
      for (let step = 0; step < 4; step++) {
        losses.push((await session.run([loss, trainOp], batches[step]!))[0] as number);
      }
      const { freeBytes, totalBytes } = driver.memory();
      await session.close();
      return { losses, usedBytes: totalBytes - freeBytes };
    };
    const plain = await train();
    driver.simulator.configure({ memoryBytes: plain.usedBytes - 64 });
    const small = await train();
    t.ok(small.usedBytes < plain.usedBytes, `${small.usedBytes} of ${plain.usedBytes} bytes`);
    t.ok(Math.max(...plain.losses.map((loss, step) => Math.abs(loss - small.losses[step]!))) <= 1e-6);
  }),
);

t.test(
  'a kernel that fails ends the session, not the checkpoints before it',
  withSimulated(async (t, driver) => {
    const modelDir = await mkdtemp(join(tmpdir(), 'cuda-'));
    try {
      await trainFfm({ steps: 4, session: CUDA, modelDir });
      const saved = await readdir(modelDir);
      // A launch that runs longer than this is taken for one that never ends.
      driver.simulator.configure({ warpInstructionsMax: 10 });
      await t.rejects(trainFfm({ steps: 4, session: CUDA, modelDir }), { code: 'ML_CUDA_KERNEL' });
      driver.simulator.reset();
      driver.simulator.configure({ warpInstructionsMax: 2e9 });
      t.same(await readdir(modelDir), saved);
      t.ok(saved.every((name) => existsSync(join(modelDir, name))));
      t.equal((await trainFfm({ steps: 4, session: CUDA, modelDir })).length, 4, 'and training goes on from them');
    } finally {
      await rm(modelDir, { recursive: true });
    }
  }),
);
