/**
 * @file Which devices ops may ask for. Mirrors native_training/device_utils.
 *
 * A process allows GPUs or it does not, and the rule turns what is not allowed into the CPU of the same task. Under the
 * cuda backend an op without a device runs where the backend puts it, and one on a CPU runs on the host.
 */
import type { Environment } from '../base/environment-int.js';
import { MonolithError } from '../base/errors.js';
import { getMpiRank, isUnderMpi } from '../base/mpi-position.js';
import { type DeviceFunction, mergeDevices, type OpToPlace, roundRobinVariables } from './device.js';
import type { Graph } from './graph.js';

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

const CPU = '/device:CPU:0';
const DEVICE_PART = /\/(?:device:)?(cpu|gpu):\d+/i;
/** Their results are for the host, wherever their inputs are. */
const HOST_OPS = /^Write|Summary$|^(?:Print|Assert)$/;

const typeOf = (device: string) => DEVICE_PART.exec(device)?.[1]?.toUpperCase();

/** Whether an op is on the host whatever it is asked for: summaries and the like. */
export function skipDevice({ type }: OpToPlace): boolean {
  return HOST_OPS.test(type);
}

/** The device that is asked for, as far as it is allowed: else the CPU of the same job and task. */
export function deviceRule(device: string): string {
  if (device === '') return CPU;
  const type = typeOf(device);
  if (type === 'CPU' || (type === 'GPU' && allowed)) return device;
  return `${device.replace(DEVICE_PART, '')}${CPU}`;
}

/** A device function that follows the rule, for what inner scopes ask for or, where they do not, for `device`. */
export function defaultDeviceFn(device = ''): DeviceFunction {
  return (op) => deviceRule(skipDevice(op) ? '' : op.device || device);
}

/** Ops made by `body` are on the device as far as the rule allows it. */
export function maybeDeviceIfAllowed<T>(graph: Graph, device: string, body: () => T): T {
  return graph.device(deviceRule(device), body);
}

/**
 * Whether an op made here would be on a device of this type.
 *
 * ```ts
 * graph.device('/device:GPU:0', () => withinPlacementContextOf(graph, 'gpu')); // true
 * ```
 */
export function withinPlacementContextOf(graph: Graph, type: string): boolean {
  return typeOf(graph.deviceHere) === type.toUpperCase();
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
  readonly env?: Environment;
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
  if (!isUnderMpi(env)) {
    throw new MonolithError('ML_SYNC_MPI', {}, { hint: 'start it with mpirun, which sets OMPI_COMM_WORLD_LOCAL_RANK' });
  }
  if (numPs === 0) return defaultDeviceFn();
  return (op) => deviceRule(skipDevice(op) ? own : mergeDevices(op.device ?? '', `${own}/device:GPU:0`));
}

/** Job and task of a process that steps together with others beside parameter servers: the first rank is the chief. */
function taskOfRank({ sync, numPs = 0, env = process.env }: TrainingTask): string {
  if (!sync || numPs === 0 || !isUnderMpi(env)) return '';
  const rank = getMpiRank(env);
  return rank === 0 ? '/job:chief/replica:0/task:0' : `/job:worker/replica:0/task:${rank - 1}`;
}

/**
 * The device of tensors that processes exchange: a GPU where ops may be placed on one, and `forceCpu` does not say
 * otherwise. Where processes step together without parameter servers, none is named.
 */
export function getDeviceStr(forceCpu: boolean, task: TrainingTask): string {
  const type = allowed && !forceCpu ? 'GPU' : 'CPU';
  if (task.sync && isUnderMpi(task.env) && !task.numPs) return '';
  return `${taskOfRank(task)}/device:${type}:0`;
}

/** Where ops of the input go: to the host of the process. */
export function inputDeviceFn(task: TrainingTask): DeviceFunction {
  return () => `${taskOfRank(task)}${CPU}`;
}

/** Where ops of a model go that asks for nothing: to a GPU where ops may be placed on one. */
export const modelDeviceFn: DeviceFunction = (op) =>
  skipDevice(op) ? CPU : mergeDevices(op.device ?? '', `/device:${allowed ? 'GPU' : 'CPU'}:0`);

/** Where ops of a serving input go that asks for nothing: to the host. */
export const servingInputDeviceFn: DeviceFunction = ({ device }) => device || CPU;

/** Whether an op was asked to run on a CPU by name. */
export function isOnCpu(device: string): boolean {
  return typeOf(device) === 'CPU';
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
