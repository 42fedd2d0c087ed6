/**
 * @file Device strings of ops: `/job:ps/task:1/device:CPU:0`, any part of which may be missing.
 *
 * A device says where an op belongs; nothing here moves it there. Scopes inside each other fill in what the inner one
 * leaves open.
 */
import { MonolithError } from '../base/errors.js';

/** The job of parameter servers in device names. */
export const PS_JOB_NAME = 'ps';

/** The device of a parameter server's variables. */
export function psDevice(index: number): string {
  return `/job:${PS_JOB_NAME}/task:${index}/device:CPU:0`;
}

/** What a device function is told of an op that is being made. */
export interface OpToPlace {
  readonly name: string;
  readonly type: string;
  /** What scopes inside that of the function asked for. */
  readonly device?: string;
}
/** Its answer goes before inner scopes, which it may look at, and before outer ones. */
export type DeviceFunction = (op: OpToPlace) => string;
/** A device, a function that says it per op, or null: whatever scopes are open do not count. */
export type DeviceScope = string | DeviceFunction | null;

const PARTS = ['job', 'replica', 'task', 'device'] as const;
type DeviceSpec = Partial<Record<(typeof PARTS)[number], string>>;

/** The device of an op under scopes, outermost first. */
export function deviceUnder(scopes: readonly DeviceScope[], op: OpToPlace): string {
  let spec: DeviceSpec = {};
  for (const scope of scopes.toReversed()) {
    if (scope === null) break;
    if (typeof scope === 'string') spec = { ...parseDevice(scope), ...spec };
    else spec = { ...spec, ...parseDevice(scope({ ...op, device: deviceText(spec) })) };
  }
  return deviceText(spec);
}

const deviceText = (spec: DeviceSpec) =>
  PARTS.map((part) => (spec[part] === undefined ? '' : `/${part}:${spec[part]}`)).join('');

/** A device with what it leaves open taken from another. */
export function mergeDevices(device: string, rest: string): string {
  return deviceText({ ...parseDevice(rest), ...parseDevice(device) });
}

/** Parts of a device string; `/cpu:0` and `/gpu:0` are devices too. */
function parseDevice(device: string): DeviceSpec {
  const spec: DeviceSpec = {};
  for (const part of device.split('/').filter((text) => text !== '')) {
    const [, short] = /^((?:cpu|gpu):\d+)$/i.exec(part) ?? [];
    const [, name, value] =
      /^(job|replica|task|device):(.+)$/.exec(short === undefined ? part : `device:${short}`) ?? [];
    const fits = name === 'job' || (name === 'device' ? /^[a-z]+:\d+$/i : /^\d+$/).test(value ?? '');
    if (!fits) throw new MonolithError('ML_DEVICE', { device, part });
    spec[name as keyof DeviceSpec] = name === 'device' ? value!.toUpperCase() : value!;
  }
  return spec;
}

/**
 * Variables on the servers in turn, in the order they are made; everything else on the worker. Without servers nothing
 * is placed.
 *
 * ```ts
 * graph.device(roundRobinVariables(2), () => buildModel(graph));
 * ```
 */
export function roundRobinVariables(numPs: number, workerDevice = '/job:worker'): DeviceFunction {
  let next = 0;
  return ({ type, device = '' }) => {
    if (numPs === 0) return '';
    return mergeDevices(device, type === 'Variable' ? `/job:${PS_JOB_NAME}/task:${next++ % numPs}` : workerDevice);
  };
}
