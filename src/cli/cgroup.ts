/**
 * @file Limits that a container puts on this process: cores and bytes, from version 1 or 2 of Linux control groups.
 *
 * A limit may sit on any group above ours, so all of them are read and the tightest counts.
 */

/** The text of a file, or null when it is not there or may not be read. */
export type ReadText = (path: string) => string | null;

export interface CgroupLimits {
  /** Cores' worth of time, possibly a fraction; null when unlimited. */
  readonly cores: number | null;
  readonly memoryBytes: number | null;
}

const ROOT = '/sys/fs/cgroup';
/** Version 1 writes "unlimited" as a huge number. */
const UNLIMITED_BYTES = 2 ** 60;

export function cgroupLimits(readText: ReadText): CgroupLimits {
  const own = readText('/proc/self/cgroup') ?? '';
  const cores: number[] = [];
  const bytes: number[] = [];
  for (const dir of groupDirs(own, '')) {
    cores.push(...coresOf((readText(`${dir}/cpu.max`) ?? '').trim().split(/\s+/)));
    bytes.push(...bytesOf(readText(`${dir}/memory.max`)));
  }
  for (const dir of groupDirs(own, 'cpu')) {
    const quota = readText(`${dir}/cpu.cfs_quota_us`)?.trim();
    const period = readText(`${dir}/cpu.cfs_period_us`)?.trim();
    if (quota !== undefined && period !== undefined) cores.push(...coresOf([quota, period]));
  }
  for (const dir of groupDirs(own, 'memory')) bytes.push(...bytesOf(readText(`${dir}/memory.limit_in_bytes`)));
  return { cores: least(cores), memoryBytes: least(bytes) };
}

/** Folders of our group of `controller` ('' for version 2) and of all groups above it. */
function groupDirs(own: string, controller: string): string[] {
  const line = own.split('\n').find((text) => text.split(':')[1]?.split(',').includes(controller));
  const path = line?.split(':').slice(2).join(':') ?? '/';
  const root = controller === '' ? ROOT : `${ROOT}/${controller}`;
  const names = path.split('/').filter((name) => name !== '' && name !== '..');
  return Array.from({ length: names.length + 1 }, (_, depth) => [root, ...names.slice(0, depth)].join('/'));
}

function coresOf([quota, period]: readonly string[]): number[] {
  const cores = Number(quota) / Number(period);
  return Number.isFinite(cores) && cores > 0 ? [cores] : [];
}

function bytesOf(text: string | null): number[] {
  const bytes = Number(text?.trim() || Number.NaN);
  return bytes >= 0 && bytes < UNLIMITED_BYTES ? [bytes] : [];
}

function least(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.min(...values);
}
