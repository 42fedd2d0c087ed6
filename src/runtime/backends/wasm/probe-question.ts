/** @file What the answer of a probe depends on: the engine, the CPU, and the kernels. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Engine } from './engine.js';
import type { KernelVariant } from './kernel-variants.js';
import { kernelFile } from './load-kernels.js';
import type { ProbeQuestion } from './probe-answers.js';

/** The first processor of a long list is enough, and the kernel makes no more of the list than is read. */
const CPUINFO_BYTES = 8192;
/** Lines that are the same at every start. */
const CPUINFO_LINES = /^(?:vendor_id|cpu family|model|model name|stepping|flags)\s*:/;

export function questionOf({ version, arch }: Engine, variant: KernelVariant): ProbeQuestion {
  // Wide kernels are compared with the relaxed ones, which are run in the same way.
  const files = variant === 'wide' ? (['relaxed', 'wide'] as const) : [variant];
  const kernels = sha256(...files.map((name) => readFileSync(kernelFile(name))));
  return { format: 1, variant, v8: version, arch, cpu: cpuModel(), kernels };
}

/** Name of the CPU and, since virtual machines give many CPUs one name, a digest of what it can do. */
function cpuModel(): string {
  const name = cpus()[0]?.model.trim() ?? 'unknown';
  const info = firstProcessor();
  return info === null ? name : `${name} ${sha256(Buffer.from(info)).slice(0, 16)}`;
}

/** What Linux says of the first processor, or null. */
function firstProcessor(): string | null {
  try {
    const fd = openSync('/proc/cpuinfo', 'r');
    try {
      const bytes = Buffer.alloc(CPUINFO_BYTES);
      const text = bytes.toString('latin1', 0, readSync(fd, bytes));
      return text
        .split('\n\n')[0]!
        .split('\n')
        .filter((line) => CPUINFO_LINES.test(line))
        .join('\n');
    } finally {
      closeSync(fd);
    }
  } catch {
    return null; // not Linux, or not told: the name has to do
  }
}

function sha256(...parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
