/** @file What the doctor can ask of a machine. The checks take it as an argument, so tests can make machines up. */
import { execFile } from 'node:child_process';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { arch, availableParallelism, freemem, platform, totalmem } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { MonolithError } from '../base/errors.js';
import { createSharedMemory, PAGE_BYTES } from '../memory/shared-memory.js';
import { cpuName } from '../runtime/backends/cpu-name.js';
import { CudaDriver, versionText } from '../runtime/backends/cuda/driver.js';
import { DRIVER_VARIABLE } from '../runtime/backends/cuda/driver-variable.js';
import { nativePath, simulatorPath } from '../runtime/backends/cuda/native.js';
import { tryInitCuda } from '../runtime/backends/cuda/try-init-cuda.js';
import { chooseKernels } from '../runtime/backends/wasm/choose-kernels.js';
import { instantiateKernels } from '../runtime/backends/wasm/instantiate-kernels.js';
import type { ChosenKernels } from '../runtime/backends/wasm/try-builds.js';
import type { ReadText } from './cgroup.js';
import { bytesText } from './progress-line.js';

export interface DoctorProbes {
  readonly nodeVersion: string;
  readonly platform: string;
  readonly arch: string;
  readonly cores: number;
  /** The name of the processor. */
  readonly cpu: string;
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly readText: ReadText;
  /** Whether the engine accepts a WebAssembly module. */
  validate(bytes: Uint8Array): boolean;
  /** Loads the kernels a session would take, says which and why and how many there are; throws what is wrong. */
  loadKernels(): Promise<Pick<ChosenKernels, 'variant' | 'why' | 'advice'> & { readonly count: number }>;
  /** Whether a shared memory of so many bytes can be reserved. */
  canReserve(bytes: number): boolean;
  /** The path of a program, or null. */
  findProgram(name: string): string | null;
  /** The path of a shared library, or null. */
  findLibrary(name: string): string | null;
  /** Paths of the CUDA addon and the simulated driver of this package, as far as they are built. */
  addons(): readonly string[];
  /** The CUDA driver that the environment names. */
  readonly cudaDriver: string | undefined;
  /** Opens the driver the cuda backend would take, and says what is there; or why it cannot be used. */
  openCuda(): string | MonolithError;
  /** Output of a program, or null when it fails or does not answer in time. */
  run(program: string, args: readonly string[]): Promise<string | null>;
}

const RUN_LIMIT_MS = 5000;
const LIBRARY_DIRS = [
  '/usr/lib',
  '/usr/lib64',
  '/lib64',
  '/usr/local/lib',
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib/wsl/lib',
  '/usr/local/cuda/lib64',
  '/usr/local/nvidia/lib64',
  '/run/opengl-driver/lib',
];

/** The machine we are on. */
export function realProbes(env: Readonly<Record<string, string | undefined>>): DoctorProbes {
  return {
    nodeVersion: process.versions.node,
    platform: platform(),
    arch: arch(),
    cores: availableParallelism(),
    cpu: cpuName(),
    totalBytes: totalmem(),
    freeBytes: freemem(),
    readText,
    validate: (bytes) => WebAssembly.validate(bytes),
    loadKernels: async () => {
      const { variant, why, advice, module } = await chooseKernels();
      const kernels = instantiateKernels(module, createSharedMemory(PAGE_BYTES));
      return {
        variant,
        why,
        advice,
        count: Object.values(kernels).filter((value) => typeof value === 'function').length,
      };
    },
    canReserve: (bytes) => succeeds(() => createSharedMemory(bytes)),
    findProgram: (name) => firstOf((env.PATH ?? '').split(delimiter), name, constants.X_OK),
    findLibrary: (name) =>
      firstOf([...(env.LD_LIBRARY_PATH ?? '').split(delimiter), ...LIBRARY_DIRS], name, constants.R_OK),
    addons: () => [nativePath(), simulatorPath()].filter((path) => path !== null),
    cudaDriver: env[DRIVER_VARIABLE],
    openCuda: () => {
      const driver = tryInitCuda({ env });
      if (!(driver instanceof CudaDriver)) return driver;
      const { name, computeCapability, memoryBytes } = driver.device;
      const device = `${name}, compute capability ${(computeCapability / 10).toFixed(1)}, ${bytesText(memoryBytes)}`;
      return `${device}; CUDA ${versionText(driver.version)} of ${driver.path}`;
    },
    run: async (program, args) => {
      try {
        return (await promisify(execFile)(program, [...args], { timeout: RUN_LIMIT_MS })).stdout;
      } catch {
        return null; // the caller says what is missing; why a diagnostic tool fails is beyond this check
      }
    },
  };
}

/** The doctor asks for files that often are not there; not being able to read one is the answer, not an error. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function succeeds(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

function firstOf(dirs: readonly string[], name: string, mode: number): string | null {
  for (const dir of dirs) {
    const path = join(dir, name);
    if (dir !== '' && succeeds(() => accessSync(path, mode)) && statSync(path).isFile()) return path;
  }
  return null;
}
