/**
 * @file Who holds a lock file: how a process describes itself, and whether the one that a lock describes still lives.
 *
 * A process id alone is not enough. Ids are used again, by a new process or after a reboot, so the owner's start time
 * and the boot of the system stand beside it. Containers may share a host name and have process ids of their own each;
 * there the id says nothing, and the lock counts as long as its owner touches it.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { z } from 'zod';
import { lazySchema } from '../base/lazy-module.js';

const ownerSchema = lazySchema((z) =>
  z.object({
    /** Of this one lock, so that two of the same process differ. */
    id: z.string().regex(/^[0-9a-f]{32}$/),
    pid: z.number().int().positive(),
    /** Start of the process, in ticks since the boot; empty where the system does not tell. */
    start: z.string(),
    host: z.string(),
    boot: z.string(),
    /** Name space of process ids: containers on one host have different ones. */
    space: z.string(),
    /** When the lock was taken. */
    since: z.string(),
  }),
);

export type LockOwner = z.output<ReturnType<typeof ownerSchema>>;

/** Time without a touch after which an owner whose process id cannot be looked up counts as gone. */
export const SILENT_MS = 30_000;

/** This process as the owner of a new lock. */
export function thisOwner(): LockOwner {
  return {
    id: randomBytes(16).toString('hex'),
    pid: process.pid,
    start: processStart(process.pid)?.start ?? '',
    host: hostname(),
    boot: systemText(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    space: systemText(() => readlinkSync('/proc/self/ns/pid')),
    since: new Date().toISOString(),
  };
}

export function formatOwner(owner: LockOwner): string {
  return `${JSON.stringify(owner)}\n`;
}

/** Undefined for text that no lock of ours has. */
export function parseOwner(text: string): LockOwner | undefined {
  try {
    return ownerSchema().safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // not JSON
  }
}

/**
 * `alive`, `gone`, or what else there is to say: `elsewhere`, on another host, which cannot be looked at from here;
 * `silent`, gone as far as one can tell; `unclear`, touched so lately that it may live.
 */
export type OwnerState = 'alive' | 'gone' | 'elsewhere' | 'silent' | 'unclear';

/** What has become of `owner`, whose lock was last touched `silentMs` ago, as `self` sees it. */
export function stateOf(owner: LockOwner, silentMs: number, self: LockOwner): OwnerState {
  if (owner.host !== self.host) return 'elsewhere';
  if (owner.boot === self.boot && owner.space === self.space) return isAlive(owner) ? 'alive' : 'gone';
  return silentMs > SILENT_MS ? 'silent' : 'unclear';
}

function isAlive({ pid, start }: LockOwner): boolean {
  try {
    process.kill(pid, 0);
  } catch (cause) {
    // EPERM: it lives, as another user's.
    if (cause instanceof Error && 'code' in cause && cause.code === 'ESRCH') return false;
  }
  const found = processStart(pid);
  if (found === undefined) return true;
  // A process that ended keeps its id until its parent asks for it.
  return found.state !== 'Z' && found.state !== 'X' && (start === '' || found.start === start);
}

/** State and start time of a process, undefined where the system does not tell. */
function processStart(pid: number): { readonly state: string; readonly start: string } | undefined {
  const text = systemText(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  // The name before it, in parentheses, may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, start] = [fields[0], fields[19]];
  return state === undefined || start === undefined ? undefined : { state, start };
}

function systemText(read: () => string): string {
  try {
    return read();
  } catch {
    return ''; // not Linux, or hidden from this user
  }
}
