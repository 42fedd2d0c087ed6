/** @file The reference kernels by name, tied to one memory. */
import type { Views } from '../../../memory/views.js';
import { type HostCall, refuseCall } from '../../kernels/host-call.js';
import { KERNEL, KERNELS } from '../../kernels/kernels.js';
import { addCountI64, advanceGeneration } from './counts.js';
import * as dense from './dense.js';
import { filterAsk, filterCount } from './filter.js';
import * as optim from './optim.js';
import * as sparse from './sparse.js';
import { tableAdmit, tableApply, tableFind, tableRetrieve } from './table.js';

export type BoundKernel = (...operands: number[]) => number;
type PlainKernel = (m: Views, ...operands: number[]) => number | undefined;

const bound = new WeakMap<Views, ReadonlyMap<string, BoundKernel>>();

/** Kernels of the program table over `m`, bound once per memory with the calls to others. Kernels without a result answer 0. */
export function referenceKernels(m: Views, host?: HostCall): ReadonlyMap<string, BoundKernel> {
  let map = bound.get(m);
  if (map === undefined) {
    const all: Record<string, unknown> = {
      ...dense,
      ...optim,
      ...sparse,
      addCountI64,
      advanceGeneration,
      filterAsk,
      filterCount,
      tableAdmit,
      tableApply,
      tableFind,
      tableRetrieve,
    };
    for (const { name, opcode } of [KERNEL.bankedFind, KERNEL.bankedApply, KERNEL.tableTouch]) {
      all[name] = (_: Views, ...operands: number[]) => (host ?? refuseCall)(opcode, ...operands);
    }
    map = new Map(
      [...KERNELS.keys()].map((name) => {
        const plain = all[name] as PlainKernel | undefined;
        if (plain === undefined) throw new Error(`kernel ${name} has no reference`);
        return [name, (...operands: number[]) => plain(m, ...operands) ?? 0];
      }),
    );
    bound.set(m, map);
  }
  return map;
}
