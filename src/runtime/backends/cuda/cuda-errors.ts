/** @file Failures of driver calls as errors with codes and with what to do about them. */
import { type ErrorCode, MonolithError, messageOf } from '../../../base/errors.js';

/** What the addon adds to an Error of a driver call that failed. */
export interface NativeFailure extends Error {
  readonly call: string;
  readonly status: number;
  readonly errorName: string;
  readonly detail: string;
}

const AFTER_FAULT =
  'the driver takes no more work in this process: start a new one, and run this input under the simulator';

/** Status of the driver → code and hint. What is not here is ML_CUDA_CALL. */
const KNOWN: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  2: ['ML_CUDA_MEMORY', 'use a smaller batch, or free buffers that are not needed'],
  3: ['ML_CUDA_CALL', 'open the driver first'],
  34: ['ML_CUDA_DRIVER', 'this libcuda is the stub of the toolkit: install the NVIDIA driver'],
  46: ['ML_CUDA_DEVICE', 'another process has the device for itself: `nvidia-smi` shows which'],
  100: ['ML_CUDA_DEVICE', 'check `nvidia-smi`; in a container, pass the devices in; the CPU backend works without one'],
  101: ['ML_CUDA_DEVICE', 'devices are numbered from 0; `nvidia-smi -L` lists them'],
  201: ['ML_CUDA_CALL', 'a thread has to open the driver itself before it calls'],
  209: ['ML_CUDA_PTX', 'the device is older than the PTX: compute capability 7.5 is the least'],
  214: ['ML_CUDA_KERNEL', 'the memory of the device has failed: `nvidia-smi -q` shows its errors'],
  218: [
    'ML_CUDA_PTX',
    'the PTX is malformed, or uses what this driver or the simulator cannot run: update the NVIDIA driver',
  ],
  221: ['ML_CUDA_PTX', 'install the whole NVIDIA driver: libnvidia-ptxjitcompiler, which compiles PTX, is not there'],
  222: ['ML_CUDA_PTX', 'update the NVIDIA driver, or lower the .version line of the PTX'],
  500: ['ML_CUDA_CALL', 'check the name of the kernel or variable against the PTX'],
  700: ['ML_CUDA_KERNEL', AFTER_FAULT],
  702: ['ML_CUDA_KERNEL', AFTER_FAULT],
  715: ['ML_CUDA_KERNEL', AFTER_FAULT],
  716: ['ML_CUDA_KERNEL', AFTER_FAULT],
  717: ['ML_CUDA_KERNEL', AFTER_FAULT],
  718: ['ML_CUDA_KERNEL', AFTER_FAULT],
  719: ['ML_CUDA_KERNEL', AFTER_FAULT],
  803: [
    'ML_CUDA_DRIVER',
    'the kernel module and libcuda are of different versions: restart, or install one version of both',
  ],
  804: ['ML_CUDA_DRIVER', 'a compatibility libcuda is before the one of the driver: take it off the library path'],
};

function isNativeFailure(thrown: unknown): thrown is NativeFailure {
  return thrown instanceof Error && 'status' in thrown && 'errorName' in thrown;
}

/** The MonolithError of what the addon threw; anything else is handed back. */
export function cudaError(thrown: unknown): unknown {
  if (!isNativeFailure(thrown)) return thrown;
  const { call, status, errorName: name, detail } = thrown;
  const [code, hint] = KNOWN[status] ?? ['ML_CUDA_CALL', 'see the CUDA driver API for this error'];
  // These two are also thrown where no call has failed, so that their texts have no place for one.
  const isSetup = code === 'ML_CUDA_DRIVER' || code === 'ML_CUDA_DEVICE';
  const reason = isSetup ? `${call} failed with ${name} (${status}): ${detail}` : detail;
  return new MonolithError(code, { call, name, status, reason }, { hint, cause: thrown });
}

/** Runs driver calls; what they throw leaves as a MonolithError. */
export function guarded<R>(calls: () => R): R {
  try {
    return calls();
  } catch (thrown) {
    throw cudaError(thrown);
  }
}

/** The error of a driver that cannot be opened. */
export function driverError(thrown: unknown): unknown {
  if (isNativeFailure(thrown)) return cudaError(thrown);
  const reason = messageOf(thrown);
  const hint = reason.startsWith('this process has opened')
    ? 'a process has one driver: name the same one everywhere, or start another process'
    : 'install the NVIDIA driver, name it by the option or MONOLITH_CUDA_DRIVER, or use `sim`, the simulated driver';
  return new MonolithError('ML_CUDA_DRIVER', { reason }, { hint, cause: thrown });
}
