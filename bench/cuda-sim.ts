/**
 * @file How fast the simulated CUDA driver runs PTX, and what a launch through the addon costs.
 *
 * These are figures of the simulator on this CPU. They say nothing about a GPU.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CudaDriver } from '../src/runtime/backends/cuda/driver.js';
import type { View } from '../src/runtime/backends/cuda/native.js';
import type { PreparedLaunch } from '../src/runtime/backends/cuda/ptx-module.js';
import type { SimulatorControls } from '../src/runtime/backends/cuda/simulator.js';
import { benchMain, type Machine, machine, machineText, median, table } from './harness.js';

const PTX = fileURLToPath(new URL('../../test/fixtures/cuda/kernels.ptx', import.meta.url));

/** Ways to run: what a test uses, and with each costly part off or on. */
const MODES: Readonly<Record<string, SimulatorControls>> = {
  checked: { checkRaces: true, checkUninitialized: true, counters: false },
  unchecked: { checkRaces: false, checkUninitialized: false, counters: false },
  counted: { checkRaces: true, checkUninitialized: true, counters: true },
};

export interface CudaSimReport extends Machine {
  readonly kernels: readonly {
    readonly name: string;
    /** Millions of thread instructions of one launch. */
    readonly threadMillions: number;
    readonly lanesPerInstruction: number;
    /** 10^9 thread instructions per second of CPU time, by mode. */
    readonly rates: Readonly<Record<string, number>>;
  }[];
  /** Microseconds of CPU time of one launch of an empty kernel of one warp, everything between included. */
  readonly launchUs: number;
}

/** Seconds of CPU time that `work` takes on the calling thread, in the median of `rounds`. */
function cpuSeconds(rounds: number, work: () => void): number {
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  });
  return median(times);
}

export async function runCudaSimBench({ quick }: { quick: boolean }): Promise<CudaSimReport> {
  const driver = CudaDriver.open({ driver: 'sim' });
  const simulator = driver.simulator!;
  const rounds = quick ? 1 : 9;
  const stream = driver.stream();
  const launches = prepareAll(driver, quick ? 1 : 8);
  const kernels = launches.map((launch) => {
    const rates: Record<string, number> = {};
    const { kernel } = launch;
    let counters = simulator.counters(kernel);
    for (const [mode, controls] of Object.entries(MODES)) {
      simulator.configure(controls);
      launch.launch(stream);
      simulator.resetCounters(kernel);
      const seconds = cpuSeconds(rounds, () => launch.launch(stream));
      counters = simulator.counters(kernel);
      rates[mode] = counters.threadInstructions / counters.launches / seconds / 1e9;
    }
    const threadMillions = counters.threadInstructions / counters.launches / 1e6;
    return { name: kernel.name, threadMillions, lanesPerInstruction: counters.lanesPerInstruction, rates };
  });
  simulator.configure(MODES.checked!);
  const empty = driver.loadModule('kernels', readFileSync(PTX, 'utf8')).kernel('nothing');
  const launch = empty.prepare({ grid: 1, block: 32 }, []);
  const repeats = quick ? 100 : 20_000;
  const seconds = cpuSeconds(rounds, () => {
    for (let i = 0; i < repeats; i++) launch.launch(stream);
  });
  stream.destroy();
  return { ...machine(), kernels, launchUs: (seconds / repeats) * 1e6 };
}

function prepareAll(driver: CudaDriver, scale: number): PreparedLaunch[] {
  const module = driver.loadModule('kernels', readFileSync(PTX, 'utf8'));
  const put = (view: View) => {
    const buffer = driver.alloc(view.byteLength);
    driver.upload(buffer, view);
    return buffer;
  };
  const floats = (count: number) =>
    put(Float32Array.from({ length: count }, (_, i) => ((i * 7919) % 1009) / 1009 + 0.1));
  const [rows, dim, segments] = [5000, 64, 512 * scale];
  const splits = Int32Array.from({ length: segments + 1 }, (_, i) => i * 5);
  const ids = Int32Array.from({ length: segments * 5 }, (_, i) => (i * 7907) % rows);
  const unique = Int32Array.from({ length: segments }, (_, i) => i);
  const [n, size] = [32 * scale, 25_000 * scale];
  const few = 3000 * scale;
  return [
    module
      .kernel('segmentSum')
      .prepare({ grid: (segments * dim) / 4 / 256, block: 256 }, [
        floats(rows * dim),
        put(ids),
        put(splits),
        floats(segments * dim),
        segments,
        dim / 4,
      ]),
    module
      .kernel('adagradRows')
      .prepare({ grid: (segments * dim) / 256, block: 256 }, [
        floats(rows * dim),
        floats(rows * dim),
        put(unique),
        floats(segments * dim),
        segments,
        dim,
        0.01,
        0,
      ]),
    module
      .kernel('adam')
      .prepare({ grid: 64, block: 256 }, [
        floats(size),
        floats(size),
        floats(size),
        floats(size),
        size,
        0.01,
        0.9,
        0.99,
        1e-6,
      ]),
    module
      .kernel('matMul')
      .prepare({ grid: [n / 32, n / 32], block: 256 }, [
        floats(n * n),
        floats(n * n),
        floats(n),
        floats(n * n),
        n,
        n,
        n,
      ]),
    module.kernel('sumSquares').prepare({ grid: 64, block: 256 }, [floats(size), size, floats(128)]),
    module.kernel('functions').prepare({ grid: few / 250, block: 250 }, [floats(few), floats(few * 9), few]),
  ];
}

function text(report: CudaSimReport): string {
  const head = ['kernel', 'M thread instr.', 'lanes', ...Object.keys(MODES).map((mode) => `G/s ${mode}`)];
  const rows = report.kernels.map(({ name, threadMillions, lanesPerInstruction, rates }) => [
    name,
    threadMillions.toFixed(1),
    lanesPerInstruction.toFixed(1),
    ...Object.keys(MODES).map((mode) => rates[mode]!.toFixed(2)),
  ]);
  return [
    `simulated CUDA driver, not a GPU; ${machineText(report)}`,
    table(head, rows),
    `a launch of an empty kernel through the addon: ${report.launchUs.toFixed(2)} us`,
  ].join('\n');
}

await benchMain(import.meta.url, runCudaSimBench, text);
