/**
 * @file Which devices ops may ask for. Mirrors native_training/device_utils.
 *
 * A process allows GPUs or it does not, and the rule turns what is not allowed into the CPU of the same task. Under the
 * cuda backend an op without a device runs where the backend puts it, and one on a CPU runs on the host.
 */
import { MonolithError } from '../base/errors.js';
import type { DeviceFunction } from './device.js';

let allowed = false;

/** Allows ops of this process to ask for a GPU. Off at the start. */
export function enableGpuTraining(): void {
  allowed = true;
}

export function disableGpuTraining(): void {
  allowed = false;
}

export function isGpuTraining(): boolean {
  return allowed;
}

const DEVICE_PART = /\/(?:device:)?(cpu|gpu):\d+/i;
/** Their results are for the host, wherever their inputs are. */
const HOST_OPS = /Summary|^(?:Print|Assert)$/;

/** The device that is asked for, as far as it is allowed: else the CPU of the same job and task. */
export function deviceRule(device: string): string {
  if (device === '') return '/device:CPU:0';
  const type = DEVICE_PART.exec(device)?.[1]?.toUpperCase();
  if (type === 'CPU' || (type === 'GPU' && allowed)) return device;
  return `${device.replace(DEVICE_PART, '')}/device:CPU:0`;
}

/** A device function that follows the rule; summaries and the like are always on the CPU. */
export function defaultDeviceFn(device = ''): DeviceFunction {
  return ({ type }) => deviceRule(HOST_OPS.test(type) ? '' : device);
}

/** Whether an op was asked to run on a CPU by name. */
export function isOnCpu(device: string): boolean {
  return DEVICE_PART.exec(device)?.[1]?.toUpperCase() === 'CPU';
}

/**
 * The GPU that a process of a host sees, as CUDA_VISIBLE_DEVICES wants it.
 *
 * ```ts
 * getVisibleGpus(3, 2); // '1'
 * ```
 */
export function getVisibleGpus(localRank: number, processesPerGpu = 1): string {
  if (!Number.isInteger(processesPerGpu) || processesPerGpu < 1) {
    const reason = `${processesPerGpu} is not a number of processes`;
    throw new MonolithError('ML_FLAG', { flag: 'processesPerGpu', reason });
  }
  return String(Math.floor(localRank / processesPerGpu));
}
