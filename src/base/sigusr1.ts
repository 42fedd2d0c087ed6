/**
 * @file Whether SIGUSR1 is for this process to handle. Node.js opens its inspector on it unless it was started with
 * `--disable-sigusr1`. With that flag some versions, 26.10 for one, leave the signal blocked: it never comes.
 */
import { readFileSync } from 'node:fs';

/** Signals are numbered from 1, their bits from 0. */
const SIGUSR1_BIT = 1n << 9n;

/** Whether Node.js leaves SIGUSR1 to this process, and lets it through. */
export function hasSigusr1(
  execArgv = process.execArgv,
  nodeOptions = process.env.NODE_OPTIONS ?? '',
  status = statusText(),
): boolean {
  if (![...execArgv, ...nodeOptions.split(/\s+/)].includes('--disable-sigusr1')) return false;
  const mask = /^SigBlk:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return mask === undefined || (BigInt(`0x${mask}`) & SIGUSR1_BIT) === 0n;
}

/** What Linux says of this process; empty elsewhere. */
function statusText(): string {
  try {
    return readFileSync('/proc/self/status', 'latin1');
  } catch {
    return '';
  }
}
