/**
 * @file The native side of the CUDA backend: what the addon exports, and where it and the simulated driver are.
 *
 * The addon is optional. It is loaded on first use, and a package without it works on the CPU.
 */
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MonolithError, messageOf } from '../../../base/errors.js';

/** A handle or device address of the driver: a number, as both are below 2^53. */
export type Handle = number;
export type View = NodeJS.ArrayBufferView;

/**
 * The functions of cuda/addon. All of them throw an Error with the fields of NativeFailure when the driver refuses, and
 * a TypeError for an argument of another kind. What a thread was given and has not given back is given back when it
 * ends.
 */
export interface NativeCuda {
  open(path: string): { readonly path: string; readonly version: number; readonly simulated: boolean };
  deviceCount(): number;
  device(index: number): CudaDevice;
  use(index: number): void;
  moduleLoad(ptx: string): Handle;
  moduleUnload(module: Handle): void;
  moduleFunction(module: Handle, name: string): Handle;
  moduleGlobal(module: Handle, name: string): [address: Handle, bytes: number];
  functionAttribute(fn: Handle, attribute: number): number;
  alloc(bytes: number): Handle;
  free(address: Handle): void;
  memoryInfo(): [free: number, total: number];
  hostAlloc(bytes: number): ArrayBuffer;
  hostFree(buffer: ArrayBuffer): void;
  hostRegister(view: View): void;
  hostUnregister(view: View): void;
  copyToDevice(to: Handle, from: View): void;
  copyToDeviceAsync(to: Handle, from: View, stream: Handle): void;
  copyToHost(to: View, from: Handle): void;
  copyToHostAsync(to: View, from: Handle, stream: Handle): void;
  /** Waits for all streams, then copies; on a thread of Node's pool. */
  copyToHostLater(to: View, from: Handle): Promise<void>;
  copyOnDevice(to: Handle, from: Handle, bytes: number, stream: Handle): void;
  fillBytes(address: Handle, value: number, count: number, stream: Handle): void;
  fillWords(address: Handle, value: number, count: number, stream: Handle): void;
  streamCreate(): Handle;
  streamDestroy(stream: Handle): void;
  streamSynchronize(stream: Handle): void;
  streamFinished(stream: Handle): Promise<void>;
  streamQuery(stream: Handle): boolean;
  streamWait(stream: Handle, event: Handle): void;
  contextSynchronize(): void;
  eventCreate(timing: boolean): Handle;
  eventDestroy(event: Handle): void;
  eventRecord(event: Handle, stream: Handle): void;
  eventQuery(event: Handle): boolean;
  eventSynchronize(event: Handle): void;
  eventFinished(event: Handle): Promise<void>;
  eventElapsed(first: Handle, last: Handle): number;
  launch(fn: Handle, dimensions: Uint32Array, stream: Handle, args: Uint8Array): void;
  simulatorSet(name: string, value: number): void;
  simulatorGet(name: string): number;
  simulatorCounters(fn: Handle, out: BigUint64Array): number;
  simulatorResetCounters(fn: Handle): void;
  simulatorReset(): void;
}

/** What a device says of itself. */
export interface CudaDevice {
  readonly name: string;
  readonly memoryBytes: number;
  /** Major times ten plus minor: 75 is 7.5. */
  readonly computeCapability: number;
  readonly multiprocessors: number;
  readonly threadsPerBlockMax: number;
  readonly sharedBytesPerBlockMax: number;
}

const ADDON_DIR = fileURLToPath(new URL('../../../../../cuda/addon/', import.meta.url));
const SIMULATOR_NAME = 'cuda_sim.so';
/** npm runs scripts of an installed package by `npm explore`, from the folder of the project that installed it. */
const BUILD = ADDON_DIR.split(/[\\/]/).includes('node_modules')
  ? 'npm explore monolith-ts -- npm run build:cuda'
  : 'npm run build:cuda';
const NEEDS = 'a C++ compiler, make and Python';
export const BUILD_HINT = `run \`${BUILD}\` where ${NEEDS} are; the CPU backend works without it`;

let loaded: NativeCuda | undefined;

/** The addon of this package: built here, or a prebuild. Throws ML_CUDA_ADDON when there is none for this machine. */
export function loadNative(): NativeCuda {
  if (loaded !== undefined) return loaded;
  const require = createRequire(import.meta.url);
  try {
    const load = require('node-gyp-build') as (dir: string) => NativeCuda;
    loaded = load(ADDON_DIR);
    return loaded;
  } catch (cause) {
    const reason = messageOf(cause).split('\n')[0]!;
    throw new MonolithError('ML_CUDA_ADDON', { reason }, { hint: BUILD_HINT, cause });
  }
}

/** Where the addon is, or null when the GPU backend is not built. */
export function nativePath(): string | null {
  const require = createRequire(import.meta.url);
  try {
    return (require('node-gyp-build') as { resolve(dir: string): string }).resolve(ADDON_DIR);
  } catch {
    return null; // not built, which is not an error: the CPU backend works
  }
}

/** Where the simulated driver is, or null when it is not built. */
export function simulatorPath(): string | null {
  const prebuilds = join(ADDON_DIR, 'prebuilds');
  const dirs = existsSync(prebuilds)
    ? readdirSync(prebuilds).filter((name) => name === `${process.platform}-${process.arch}`)
    : [];
  const candidates = [join(ADDON_DIR, 'build', 'Release'), ...dirs.map((dir) => join(prebuilds, dir))];
  return candidates.map((dir) => join(dir, SIMULATOR_NAME)).find((path) => existsSync(path)) ?? null;
}
