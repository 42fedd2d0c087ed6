/** @file The reference kernels by name, tied to one memory. */
import type { Views } from '../../../memory/views.js';
import { type HostCall, refuseCall } from '../../kernels/host-call.js';
import { KERNEL, KERNELS, type Kernel } from '../../kernels/kernels.js';
import * as counts from './counts.js';
import * as dense from './dense.js';
import * as filter from './filter.js';
import * as optim from './optim.js';
import * as sparse from './sparse.js';
import * as table from './table.js';
import type { Twin } from './twin.js';

type Numbers = Readonly<Record<string, number>>;
/** A kernel over one memory, of its words by name. */
export type BoundKernel = (words: Numbers) => number;

const HOST: readonly Kernel[] = [KERNEL.bankedFind, KERNEL.bankedApply, KERNEL.tableTouch];

/** Twins of kernels by the name of the kernel. Those that call the thread back have none. */
export const TWINS: ReadonlyMap<string, Twin> = new Map(
  Object.values({ ...counts, ...dense, ...filter, ...optim, ...sparse, ...table } as Record<string, object>)
    .filter((exported): exported is Twin => 'kernel' in exported)
    .map((twin) => [twin.kernel.name, twin]),
);

const bound = new WeakMap<Views, ReadonlyMap<string, BoundKernel>>();

/**
 * Kernels of the program table over `m`, bound once per memory with the calls to others. Kernels without a result
 * answer 0.
 */
export function referenceKernels(m: Views, host: HostCall = refuseCall): ReadonlyMap<string, BoundKernel> {
  let map = bound.get(m);
  if (map === undefined) {
    map = new Map([...KERNELS.values()].map((kernel) => [kernel.name, bind(m, kernel, host)]));
    bound.set(m, map);
  }
  return map;
}

function bind(m: Views, kernel: Kernel, host: HostCall): BoundKernel {
  const { name, opcode, words } = kernel;
  if (HOST.includes(kernel)) return (values) => host(opcode, ...words.map((word) => values[word.name]!));
  const twin = TWINS.get(name);
  if (twin === undefined) throw new Error(`kernel ${name} has no reference`);
  return (values) => twin.named(m, values);
}
