/**
 * @file Which devices ops may ask for. Mirrors native_training/device_utils.
 *
 * A process allows GPUs or it does not, and the rule turns what is not allowed into the CPU of the same task. Under the
 * cuda backend an op without a device runs where the backend puts it, and one on a CPU runs on the host.
 */
import { MonolithError } from '../base/errors.js';
import { type DeviceFunction, roundRobinVariables } from './device.js';

let allowed = false;

/** Allows ops of this process to ask for a GPU. Off at the start. */
export function enableGpuTraining(): void {
  allowed = true;
}

/** Places every op on the host. */
export function disableGpuTraining(): void {
  allowed = false;
}

/** Whether ops may be placed on GPUs. */
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

/** Who a process is among those that train one model. */
export interface TrainingTask {
  /** Workers step together: `enable_sync_training`, in whole or in part. */
  readonly sync: boolean;
  /** Its job and number; nothing for a process that trains alone. */
  readonly task?: { readonly job: string; readonly index: number };
  /** Parameter servers of the cluster. */
  readonly numPs?: number;
  /** Where the launcher says what it is. Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Where ops of a training process go. Of synchronous training, which an MPI launcher must have started: on the GPU of
 * the task where there are parameter servers, by the default rule where there are none. Else with a cluster variables
 * go to the servers in turn, and without one ops stay where they are: null.
 *
 * ```ts
 * const deviceFn = getDeviceFn({ sync: true, task: { job: 'worker', index: 1 }, numPs: 2 });
 * graph.device(deviceFn ?? '', () => buildModel(graph));
 * ```
 */
export function getDeviceFn({ sync, task, numPs = 0, env = process.env }: TrainingTask): DeviceFunction | null {
  const own = task === undefined ? '' : `/job:${task.job}/task:${task.index}`;
  if (!sync) return task === undefined ? null : roundRobinVariables(numPs, own);
  if (env.OMPI_COMM_WORLD_LOCAL_RANK === undefined) {
    throw new MonolithError('ML_SYNC_MPI', {}, { hint: 'start it with mpirun, which sets OMPI_COMM_WORLD_LOCAL_RANK' });
  }
  if (numPs === 0) return defaultDeviceFn();
  return ({ type }) => deviceRule(HOST_OPS.test(type) ? own : `${own}/device:GPU:0`);
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
