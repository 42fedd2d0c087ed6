/** @file How a pool thread runs a step: the kernels of its backend, and its calls to tables in other memories. */
import { APPLY_SLICE_BYTES, UPDATE_RESULT } from '../../memory/table-layout.js';
import type { Views } from '../../memory/views.js';
import { BankCalls, type CallableBank, type CallerMemory } from '../bank-calls.js';
import { KERNEL } from '../kernels.js';
import { instantiateKernels } from '../load-kernels.js';
import { filterAbsent } from '../reference/filter.js';
import { referenceRunStep } from '../reference/program.js';
import { tableApply, tableFind, tablePassOver, tableRetrieve, tableStepped } from '../reference/table.js';
import { touchedIds } from '../reference/table-admit.js';
import { bankCounts, bankIds, bankRows, bankUpdates } from '../reference/table-banks.js';
import { TableMemory } from '../table-memory.js';
import { TOUCHED_SCRATCH_BYTES } from '../touched-geometry.js';
import type { TouchedKernels } from '../wasm/touched.js';
import type { JoinMessage } from './protocol.js';

export type RunStep = (context: number, batch: number, command: number, quiet: number) => number;

export function stepFunction(views: Views, { backend, memory, module, tables, thread }: JoinMessage): RunStep {
  const banks = tables === null ? [] : TableMemory.attach(tables).banks;
  if (backend === 'reference') {
    // Sets of touched pairs have one form in memory, which threads of whatever backend share.
    const { insertTouchedPairs } = instantiateKernels(module, memory);
    const here: CallerMemory = {
      views,
      kernels: {
        bankIds: (...args) => bankIds(views, ...args),
        bankRows: (...args) => bankRows(views, ...args),
        bankUpdates: (...args) => bankUpdates(views, ...args),
        bankCounts: (...args) => bankCounts(views, ...args),
        filterAbsent: (...args) => filterAbsent(views, ...args),
        insertTouchedPairs,
      },
    };
    const { call } = new BankCalls(banks.map(referenceBank), () => here, thread);
    const touch = referenceTouch(views, insertTouchedPairs);
    return referenceRunStep(views, (opcode, ...operands) =>
      opcode === KERNEL.tableTouch.opcode ? touch(...operands) : call(opcode, ...operands),
    );
  }
  const calls = new BankCalls(banks, () => here, thread);
  const kernels = instantiateKernels(module, memory, calls.call);
  const here: CallerMemory = { views, kernels };
  return kernels.runStep;
}

/** tableTouch: which ids is the reference's, the set is the kernel's. */
function referenceTouch(m: Views, insert: TouchedKernels['insertTouchedPairs']): (...operands: number[]) => number {
  return (table, first, end, slices, sliceCount, set, tableIndex, buffer) => {
    let touched = 0;
    for (let s = 0; s < sliceCount!; s++) {
      const ids = touchedIds(m, table!, first!, end!, slices! + s * APPLY_SLICE_BYTES, 1);
      m.i64.set(ids, (buffer! + TOUCHED_SCRATCH_BYTES) / 8);
      if (insert(set!, buffer! + TOUCHED_SCRATCH_BYTES, ids.length, tableIndex!, buffer!) < 0) {
        return UPDATE_RESULT.lostLock;
      }
      touched += ids.length;
    }
    return touched;
  };
}

function referenceBank({ views }: Pick<CallableBank, 'views'>): CallableBank {
  return {
    views,
    kernels: {
      tableFind: (...args) => tableFind(views, ...args),
      tableRetrieve: (...args) => tableRetrieve(views, ...args),
      tableApply: (...args) => tableApply(views, ...args),
      tablePassOver: (...args) => tablePassOver(views, ...args),
      tableStepped: (...args) => tableStepped(views, ...args),
    },
  };
}
