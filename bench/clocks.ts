/**
 * @file Clocks of the operating system that tell own work from that of others. Off Linux they know nothing and say so
 * with NaN.
 */
import { readFileSync } from 'node:fs';

/** A tick of /proc/stat: 10 ms on every Linux that Node runs on. */
const TICK_MS = 10;

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** CPU time of the thread the process began with, which is Node's main thread. */
export function mainThreadCpuMs(): number {
  const text = read(`/proc/self/task/${process.pid}/schedstat`);
  return text === undefined ? Number.NaN : Number(text.split(' ')[0]) / 1e6;
}

const nap = new Int32Array(new SharedArrayBuffer(4));

/** CPU time of the calling thread, a worker; where the system does not tell, the time that passed. */
export function threadCpuMs(): number {
  // The count is brought up to date when a thread leaves its core, else only by the tick of the scheduler.
  Atomics.wait(nap, 0, 0, 0.02);
  const text = read('/proc/thread-self/schedstat');
  return text === undefined ? performance.now() : Number(text.split(' ')[0]) / 1e6;
}

/** CPU time all cores spent on anything, including what the hypervisor took away. */
function machineCpuMs(): number {
  const line = read('/proc/stat')?.split('\n')[0];
  if (line === undefined) return Number.NaN;
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq + steal) * TICK_MS;
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** What others used of one core between two moments: 0 is a quiet machine, 1 a whole core gone. */
export class ForeignLoad {
  readonly #machineMs = machineCpuMs();
  readonly #ownMs = ownCpuMs();
  readonly #startMs = performance.now();

  share(): number {
    const foreignMs = machineCpuMs() - this.#machineMs - (ownCpuMs() - this.#ownMs);
    return Math.max(0, foreignMs / (performance.now() - this.#startMs));
  }
}
