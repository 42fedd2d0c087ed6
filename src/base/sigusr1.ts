/**
 * @file Whether SIGUSR1 is for this process to handle. Node.js opens its inspector on it unless it was started with
 * `--disable-sigusr1`. Node.js blocks the signal first of all when it starts, so that none is lost before the inspector
 * can take it, and it is the inspector that unblocks it: with the flag nobody does (22.23, 24.21 and 26.10), a listener
 * is never called, and nothing in JavaScript can change that.
 */
import { readFileSync } from 'node:fs';

/** Signals are numbered from 1, their bits from 0. */
const SIGUSR1_BIT = 1n << 9n;

/** Whether Node.js leaves SIGUSR1 to this process, and lets it through. */
export function hasSigusr1(): boolean {
  return sigusr1Trouble() === undefined;
}

/** Why a listener of SIGUSR1 would take it from the inspector, or never be called; undefined when all is well. */
export function sigusr1Trouble(
  execArgv = process.execArgv,
  nodeOptions = process.env.NODE_OPTIONS ?? '',
  status = statusText(),
): string | undefined {
  const isLeft = [...execArgv, ...nodeOptions.split(/\s+/)].includes('--disable-sigusr1');
  if (!isLeft) return 'Node.js keeps it for its inspector';
  const mask = /^SigBlk:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  // Where the mask cannot be read, it is what it is elsewhere.
  if (mask !== undefined && (BigInt(`0x${mask}`) & SIGUSR1_BIT) === 0n) return undefined;
  return 'Node.js blocks it when it starts, and with --disable-sigusr1 it never lets it through';
}

/** What Linux says of this process; empty elsewhere. */
function statusText(): string {
  try {
    return readFileSync('/proc/self/status', 'latin1');
  } catch {
    return '';
  }
}
