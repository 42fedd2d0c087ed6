/** @file Opens the simulated driver for a test; builds it first where that is possible. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MonolithError } from '../../src/base/errors.js';
import type { DeviceBuffer } from '../../src/runtime/backends/cuda/device-buffer.js';
import { CudaDriver } from '../../src/runtime/backends/cuda/driver.js';
import type { View } from '../../src/runtime/backends/cuda/native.js';
import type { Simulator } from '../../src/runtime/backends/cuda/simulator.js';
import { missing } from '../requirement.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export type SimulatedDriver = CudaDriver & { readonly simulator: Simulator };

/** What building it said; once a process, for that takes as long as many a test. */
let told: string | undefined;

/** The driver, or why there is none. A build of older sources is brought up to date. */
export function openSimulated(): SimulatedDriver | string {
  told ??= spawnSync(process.execPath, ['cuda/build.mjs', '--optional'], { cwd: root, encoding: 'utf8' }).stdout.trim();
  try {
    return CudaDriver.open({ driver: 'sim' }) as SimulatedDriver;
  } catch (thrown) {
    if (thrown instanceof MonolithError && thrown.code === 'ML_CUDA_ADDON') return told;
    throw thrown;
  }
}

interface Skippable {
  plan(count: number, reason: string): void;
}

/** Runs `body` with the driver, or skips the test and says why. Controls are as at the start afterwards. */
export function withSimulated<T extends Skippable>(
  body: (t: T, driver: SimulatedDriver) => Promise<void>,
): (t: T) => Promise<void> {
  return async (t) => {
    const driver = openSimulated();
    if (typeof driver === 'string') {
      t.plan(0, missing('cuda', `the simulated driver is not there: ${driver}`));
      return;
    }
    try {
      await body(t, driver);
    } finally {
      driver.simulator.reset();
      driver.simulator.configure(DEFAULTS);
    }
  };
}

export const DEFAULTS = {
  seed: 0,
  residentBlocks: 1,
  quantum: 4096,
  counters: false,
  checkRaces: true,
  checkUninitialized: true,
  splitLanes: false,
  lazyStreams: false,
  streamOrder: 0,
  warpInstructionsMax: 2e9,
  memoryBytes: 2 ** 33,
  computeCapability: 75,
  driverVersion: 13_000,
  deviceCount: 1,
  moduleLoadStatus: 0,
  launchesToFault: 0,
  pinnedBytes: 2 ** 52,
};

export const fixture = (name: string) => readFileSync(`${root}test/fixtures/cuda/${name}`, 'utf8');

/** A device buffer that holds the bytes of `view`. */
export function upload(driver: CudaDriver, view: View): DeviceBuffer {
  const buffer = driver.alloc(view.byteLength);
  driver.upload(buffer, view);
  return buffer;
}

/** Fills `view` from the start of `buffer` and returns it. */
export function download<V extends View>(driver: CudaDriver, buffer: DeviceBuffer, view: V): V {
  driver.download(view, buffer);
  return view;
}

/** Numbers of a seed, between -1 and 1. */
export function randomFloats(count: number, seed = 1): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

/** Whole numbers of a seed, from 0 to below `limit`. */
export function randomInts(count: number, limit: number, seed = 1): Int32Array {
  return Int32Array.from(randomFloats(count, seed), (value) => Math.floor(((value + 1) / 2) * limit) % limit);
}

/**
 * Code and message of what `launch` and the synchronisation after it throw, or '' when all is well. The fault is
 * forgotten.
 */
export function failureOf(driver: SimulatedDriver, launch: () => void): string {
  try {
    launch();
    driver.synchronize();
    return '';
  } catch (thrown) {
    if (!(thrown instanceof MonolithError)) throw thrown;
    return `${thrown.code} ${thrown.message}`;
  } finally {
    driver.simulator.reset();
  }
}
