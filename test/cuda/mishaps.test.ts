/**
 * Drivers and devices that do not do what is asked: sessions and `monolith train` fail with a code, the driver's error
 * and what to do, close cleanly, and leave checkpoints as they were.
 */
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { buildFfm } from '../../src/demo/ffm-model.js';
import type { SimulatorControls } from '../../src/runtime/backends/cuda/simulator.js';
import { Session } from '../../src/runtime/session/session.js';
import { MAIN, treeOf } from '../cli/run-cli.js';
import { runHere } from '../cli/run-here.js';
import { loadBatches, smallSession } from '../train/ffm-run.js';
import { DEFAULTS, type SimulatedDriver, withSimulated } from './simulated.js';

const CUDA = { backend: 'cuda', cuda: { driver: 'sim' } } as const;

interface Mishap {
  readonly name: string;
  readonly controls: SimulatorControls;
  readonly code: string;
  /** Of the sentence: the driver's error and the sizes. */
  readonly message: RegExp;
  readonly hint: RegExp;
  /** Whether a session is made before it fails. */
  readonly inStep: boolean;
}

const MISHAPS: readonly Mishap[] = [
  {
    name: 'a driver that is too old',
    controls: { driverVersion: 10_020 },
    code: 'ML_CUDA_DRIVER',
    message: /CUDA 10\.2, 11\.0 is the least/,
    hint: /update the NVIDIA driver/,
    inStep: false,
  },
  {
    name: 'a machine without a device',
    controls: { deviceCount: 0 },
    code: 'ML_CUDA_DEVICE',
    message: /cuInit failed with CUDA_ERROR_NO_DEVICE \(100\)/,
    hint: /nvidia-smi/,
    inStep: false,
  },
  {
    name: 'a device that is too old',
    controls: { computeCapability: 70 },
    code: 'ML_CUDA_DEVICE',
    message: /cannot be used: PTX simulator .* has compute capability 7\.0, 7\.5 is the least/,
    hint: /--backend wasm/,
    inStep: false,
  },
  {
    name: 'a device without the memory',
    controls: { memoryBytes: 20_000 },
    code: 'ML_CUDA_MEMORY',
    message: /CUDA_ERROR_OUT_OF_MEMORY \(2\): \d+ bytes are wanted beside the \d+ /,
    hint: /smaller batch/,
    inStep: true,
  },
  {
    name: 'PTX that the driver does not compile',
    controls: { moduleLoadStatus: 218 },
    code: 'ML_CUDA_PTX',
    message: /cuModuleLoadDataEx failed with CUDA_ERROR_INVALID_PTX \(218\).*module \w+ of the package, CUDA 13\.0/,
    hint: /update the NVIDIA driver.*--backend wasm/,
    inStep: true,
  },
  {
    name: 'PTX that is newer than the driver',
    controls: { moduleLoadStatus: 222 },
    code: 'ML_CUDA_PTX',
    message: /CUDA_ERROR_UNSUPPORTED_PTX_VERSION \(222\)/,
    hint: /update the NVIDIA driver/,
    inStep: true,
  },
  {
    name: 'a driver without its compiler',
    controls: { moduleLoadStatus: 221 },
    code: 'ML_CUDA_PTX',
    message: /CUDA_ERROR_JIT_COMPILER_NOT_FOUND \(221\)/,
    hint: /libnvidia-ptxjitcompiler/,
    inStep: true,
  },
  {
    name: 'a kernel that faults in the middle of a step',
    controls: { launchesToFault: 100 },
    code: 'ML_CUDA_KERNEL',
    message: /CUDA_ERROR_ILLEGAL_ADDRESS \(700\).*kernel \w+F32/,
    hint: /start a new one/,
    inStep: true,
  },
];

/** Steps of the demo model until one fails, or four. */
async function steps(session: Session, { loss, trainOp }: ReturnType<typeof buildFfm>): Promise<number[]> {
  const batches = loadBatches(session);
  const losses: number[] = [];
  for (const batch of batches.slice(0, 4)) losses.push((await session.run([loss, trainOp], batch))[0] as number);
  return losses;
}

async function trainOnce(): Promise<number[]> {
  const model = buildFfm();
  const session = await Session.create(model.graph, smallSession(CUDA));
  try {
    return await steps(session, model);
  } finally {
    await session.close();
  }
}

/** What a process that has met a fault cannot do, the simulator can: go on. */
function recover(driver: SimulatedDriver): void {
  driver.simulator.reset();
  driver.simulator.configure(DEFAULTS);
}

for (const { name, controls, code, message, hint, inStep } of MISHAPS) {
  t.test(
    `a session meets ${name}`,
    withSimulated(async (t, driver) => {
      const { freeBytes } = driver.memory();
      const model = buildFfm();
      driver.simulator.configure(controls);
      const expected = { code, message, hint };
      if (!inStep) {
        await t.rejects(Session.create(model.graph, smallSession(CUDA)), expected);
        const automatic = await Session.create(buildFfm().graph, smallSession({ ...CUDA, backend: 'auto' }));
        t.equal(automatic.backend, 'wasm', 'auto does without');
        await automatic.close();
      } else {
        const session = await Session.create(model.graph, smallSession(CUDA));
        await t.rejects(steps(session, model), expected);
        await t.rejects(steps(session, model), expected, 'it stays the same failure');
        await session.close();
      }
      recover(driver);
      t.equal((await trainOnce()).length, 4, 'another session works');
      if (code !== 'ML_CUDA_KERNEL') t.equal(driver.memory().freeBytes, freeBytes, 'and nothing is left behind');
    }),
  );
}

t.test(
  'without memory to pin, copies go through plain memory and losses are the same',
  withSimulated(async (t, driver) => {
    const pinned = await trainOnce();
    driver.simulator.configure({ pinnedBytes: 4096 });
    t.same(await trainOnce(), pinned);
  }),
);

/** `monolith train` on the simulated driver as it is set. */
function train(cwd: string, ...args: readonly string[]) {
  const data = ['--data', 'reference', '--batch-size', '16'];
  return runHere(['train', ...data, '--backend', 'cuda', '--cuda-driver', 'sim', ...args], { cwd });
}

t.test(
  'monolith train meets one of each kind, and leaves the checkpoints before as they were',
  withSimulated(async (t, driver) => {
    const cwd = t.testdir();
    t.equal((await train(cwd, '--steps', '2', '--model-dir', 'model')).code, 0);
    const before = treeOf(cwd);
    const kinds = new Set<string>();
    for (const { name, controls, code, message, hint } of MISHAPS) {
      if (kinds.has(code)) continue;
      kinds.add(code);
      driver.simulator.configure(controls);
      const ended = await train(cwd, '--steps', '8', '--model-dir', 'model');
      recover(driver);
      const [error = '', advice = ''] = ended.err.split('\n').filter((line) => /^(error|hint)/.test(line));
      t.same([ended.code, error.split(':')[0]], [1, `error ${code}`], name);
      t.match(error, message);
      t.match(advice, hint);
      t.same(treeOf(cwd), before, 'the model directory is as it was');
    }
    t.match(
      await train(cwd, '--steps', '2', '--model-dir', 'model', '--json'),
      { code: 0, out: /"step":4/ },
      'it goes on',
    );
  }),
);

t.test(
  'a process gets the controls of the simulator from its environment, and fails as any other',
  withSimulated(async (t) => {
    const { MONOLITH_CUDA_DRIVER: _, NODE_OPTIONS: __, ...env } = process.env;
    const inProcess = (controls: string) => {
      const args = [MAIN, 'train', '--steps', '1', '--data', 'reference', '--backend', 'cuda', '--cuda-driver', 'sim'];
      const options = { env: { ...env, PTXSIM_CONTROLS: controls }, encoding: 'utf8', timeout: 120_000 } as const;
      return spawnSync(process.execPath, args, options);
    };
    t.match(inProcess('deviceCount=0'), { status: 1, stderr: /^error ML_CUDA_DEVICE/ });
    t.match(inProcess('seed=1.5').stderr, /PTXSIM_CONTROLS: seed=1\.5 is not a control/);
  }),
);

t.test(
  'the trace of a run that ended by a fault can be read, with what the device did before',
  withSimulated(async (t, driver) => {
    const cwd = t.testdir();
    driver.simulator.configure({ launchesToFault: 400 });
    const { code, out, err } = await train(cwd, '--steps', '40', '--trace', 'trace.json', '--json');
    t.equal(code, 1);
    t.match(out + err, /the trace up to the failure is in/);
    const { out: summary } = await runHere(['trace', 'trace.json'], { cwd });
    for (const wanted of [/gpu compute/, /gpu copies/, /copy to device/, /poolSumF32/]) t.match(summary, wanted);
  }),
);
