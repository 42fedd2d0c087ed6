/** @file The checks of `monolith doctor`: each says what was found and, unless all is well, what to do about it. */
import { MonolithError, messageOf } from '../base/errors.js';
import { THREADS_MAX } from '../memory/limits.js';
import { MEMORY_BYTES_MAX } from '../memory/shared-memory.js';
import { WASM_FEATURES, type WasmFeature } from '../runtime/backends/wasm/wasm-features.js';
import { cgroupLimits } from './cgroup.js';
import type { DoctorProbes } from './doctor-probes.js';
import { bytesText } from './progress-line.js';

export type Level = 'ok' | 'warn' | 'fail';

export interface Check {
  readonly name: string;
  /** `fail` means that training cannot work; `warn` that it works less well than it could. */
  readonly level: Level;
  readonly found: string;
  readonly todo: string | null;
}

const NODE_MAJOR_MIN = 20;
const MEBIBYTE = 2 ** 20;
/** Below this the demo job itself does not fit. */
const MEMORY_BYTES_MIN = 64 * MEBIBYTE;
const FREE_BYTES_LOW = 512 * MEBIBYTE;
const UPGRADE = `install Node.js ${NODE_MAJOR_MIN} or newer from https://nodejs.org`;

const FEATURE_NAMES = {
  simd: 'wasm simd',
  threads: 'wasm threads',
  bulkMemory: 'wasm bulk memory',
} as const satisfies Record<WasmFeature, string>;

const ok = (name: string, found: string): Check => ({ name, level: 'ok', found, todo: null });
const warn = (name: string, found: string, todo: string): Check => ({ name, level: 'warn', found, todo });
const fail = (name: string, found: string, todo: string): Check => ({ name, level: 'fail', found, todo });

export function checkNode({ nodeVersion, platform, arch }: DoctorProbes): Check {
  const found = `${nodeVersion} on ${platform} ${arch}`;
  const major = Number.parseInt(nodeVersion, 10);
  return major >= NODE_MAJOR_MIN ? ok('node', found) : fail('node', found, UPGRADE);
}

export function checkFeature(feature: WasmFeature, probes: DoctorProbes): Check {
  const name = FEATURE_NAMES[feature];
  if (probes.validate(WASM_FEATURES[feature])) return ok(name, 'supported');
  return fail(name, 'not supported by this engine', `${UPGRADE}; flags like --jitless turn WebAssembly off`);
}

export async function checkKernels(probes: DoctorProbes): Promise<Check> {
  try {
    const { variant, why, advice, count } = await probes.loadKernels();
    const found = `${variant} (${why}), ${count} functions`;
    return advice === null ? ok('kernels', found) : warn('kernels', found, advice);
  } catch (thrown) {
    const again = 'run `npm run build` in a checkout; install the package again otherwise';
    const todo = thrown instanceof MonolithError && thrown.code === 'ML_KERNELS' ? thrown.hint : undefined;
    return fail('kernels', messageOf(thrown), todo ?? again);
  }
}

export function checkCores(probes: DoctorProbes): Check {
  const quota = cgroupLimits(probes.readText).cores;
  const found = `${probes.cores} usable, ${probes.cpu}`;
  if (quota !== null && quota < probes.cores) {
    const threads = Math.max(1, Math.floor(quota));
    return warn('cores', `${found}, but the container may use ${quota.toFixed(1)}`, `train with --threads ${threads}`);
  }
  if (probes.cores > THREADS_MAX) {
    return warn('cores', found, `one session takes ${THREADS_MAX} threads; run several to use the rest`);
  }
  return ok('cores', quota === null ? found : `${found}, container limit ${quota.toFixed(1)}`);
}

export function checkMemory(probes: DoctorProbes): Check {
  const limit = cgroupLimits(probes.readText).memoryBytes;
  const contained = limit !== null && limit < probes.totalBytes;
  const free = contained ? Math.min(limit, probes.freeBytes) : probes.freeBytes;
  const found =
    `${bytesText(probes.totalBytes)} in all, ${bytesText(probes.freeBytes)} free` +
    (contained ? `, container limit ${bytesText(limit)}` : '');
  if (free >= FREE_BYTES_LOW) return ok('memory', found);
  return warn('memory', found, 'end other programs or raise the limit; a small --vocab and --batch-size need less');
}

/** Finds by halving how large a shared memory may be. Reserving costs address space, not memory. */
export function checkSharedMemory(probes: DoctorProbes): Check {
  let bytes = MEMORY_BYTES_MAX;
  while (bytes >= MEMORY_BYTES_MIN && !probes.canReserve(bytes)) bytes /= 2;
  const todo = 'lift the limit on address space (ulimit -v unlimited)';
  if (bytes === MEMORY_BYTES_MAX) return ok('shared memory', `${bytesText(bytes)} can be reserved`);
  if (bytes >= MEMORY_BYTES_MIN) return warn('shared memory', `only ${bytesText(bytes)} can be reserved`, todo);
  return fail('shared memory', `not even ${bytesText(MEMORY_BYTES_MIN)} can be reserved`, todo);
}

/** Null where there is no such thing. */
export function checkHugePages(probes: DoctorProbes): Check | null {
  const text = probes.readText('/sys/kernel/mm/transparent_hugepage/enabled');
  const state = /\[(\w+)\]/.exec(text ?? '')?.[1];
  if (state === undefined) return null;
  if (state === 'always') return ok('huge pages', 'always');
  return warn(
    'huge pages',
    state,
    'lookups in big tables are faster with them: echo always | sudo tee /sys/kernel/mm/transparent_hugepage/enabled',
  );
}

/** Never fails: training runs on the CPU. Half an installation is worth a warning. */
export async function checkGpu(probes: DoctorProbes): Promise<Check> {
  const driver = /Kernel Module\s+(?:for \S+\s+)?([\d.]+)/.exec(
    probes.readText('/proc/driver/nvidia/version') ?? '',
  )?.[1];
  const library = probes.findLibrary('libcuda.so.1');
  const tool = probes.findProgram('nvidia-smi');
  if (driver === undefined && library === null && tool === null) {
    return ok('gpu', 'no NVIDIA driver; the CPU backend works');
  }
  const listed = tool === null ? null : await probes.run(tool, ['--query-gpu=name', '--format=csv,noheader']);
  const devices = (listed ?? '').split('\n').filter((line) => line.trim() !== '');
  const found = [
    `kernel driver ${driver ?? 'not loaded'}`,
    `libcuda ${library ?? 'not found'}`,
    `devices: ${devices.length === 0 ? 'none seen' : devices.map((line) => line.trim()).join(', ')}`,
  ].join('; ');
  if (library !== null && devices.length > 0) return ok('gpu', `${found}; the CPU backend works too`);
  return warn('gpu', `${found}; the CPU backend works`, 'install the whole NVIDIA driver, or ignore this');
}

export function checkAddon(probes: DoctorProbes): Check {
  const found = probes.addons();
  return ok('cuda addon', found.length > 0 ? found.join(', ') : 'the GPU backend is not built; the CPU backend works');
}

/** What `--backend cuda` finds. Worth a warning where a driver is there or was named, and cannot be used. */
export function checkCudaBackend(probes: DoctorProbes, opened: string | MonolithError): Check {
  if (typeof opened === 'string') return ok('cuda backend', opened);
  if (probes.cudaDriver === undefined && probes.findLibrary('libcuda.so.1') === null) {
    const simulated = '; `--cuda-driver sim` trains in the simulator';
    return ok('cuda backend', `no driver to run on${probes.addons().length > 0 ? simulated : ''}`);
  }
  return warn('cuda backend', opened.message, opened.hint ?? 'use the CPU backend');
}

/** What `--backend auto` takes, and why. */
export function checkAuto({ cores, cpu }: DoctorProbes, opened: string | MonolithError): Check {
  if (typeof opened === 'string') return ok('backend auto', `cuda: ${opened}`);
  const threads = Math.min(cores, THREADS_MAX);
  return ok('backend auto', `wasm, ${threads} threads of ${cpu}; not cuda: ${opened.message}`);
}

export function checkCompilers(probes: DoctorProbes): Check {
  const states = ['g++', 'nvcc'].map((name) => `${name} ${probes.findProgram(name) ?? 'not found'}`);
  return ok('compilers', `${states.join(', ')} (optional)`);
}

/** All checks, in the order they are shown. */
export async function runChecks(probes: DoctorProbes): Promise<Check[]> {
  const features = Object.keys(WASM_FEATURES) as WasmFeature[];
  const hugePages = checkHugePages(probes);
  const cuda = probes.openCuda();
  return [
    checkNode(probes),
    ...features.map((feature) => checkFeature(feature, probes)),
    await checkKernels(probes),
    checkCores(probes),
    checkMemory(probes),
    checkSharedMemory(probes),
    ...(hugePages === null ? [] : [hugePages]),
    await checkGpu(probes),
    checkAddon(probes),
    checkCudaBackend(probes, cuda),
    checkAuto(probes, cuda),
    checkCompilers(probes),
  ];
}
