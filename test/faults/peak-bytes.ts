/** @file The most memory this process had. */
import { existsSync, readFileSync } from 'node:fs';

/** By the kernel's own count: what getrusage says begins with the peak of the process that started this one. */
export function peakBytes(): number {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return 1024 * (peak === undefined ? process.resourceUsage().maxRSS : Number(peak));
}
