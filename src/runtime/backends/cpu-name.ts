/** @file The name of the processor, for output that says where steps ran. */
import { arch, cpus } from 'node:os';

/** As the system says it: `Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz`; the architecture where it says nothing. */
export function cpuName(): string {
  const model = cpus()[0]?.model.replace(/\s+/g, ' ').trim();
  return model === undefined || model === '' || model === 'unknown' ? arch() : model;
}
