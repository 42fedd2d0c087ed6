/** @file The backend that runs steps in plain TypeScript: slow, and what the others are held to. */
import { APPLY_SLICE_BYTES, UPDATE_RESULT } from '../../../memory/table-layout.js';
import { TOUCHED_SCRATCH_BYTES } from '../../../memory/touched-layout.js';
import type { Views } from '../../../memory/views.js';
import { KERNEL } from '../../kernels/kernels.js';
import type { Backend, OpenBackend } from '../backend.js';
import { BankCalls, type CallableBank, type CallerMemory } from '../bank-calls.js';
import { cpuName } from '../cpu-name.js';
import { sliceForThreads } from '../slice-for-threads.js';
import { referenceRunStep } from './program.js';
import { tableApply, tableFind, tablePassOver, tableRetrieve, tableStepped } from './table.js';
import { touchedIds } from './table-admit.js';
import { bankCounts, bankIds, bankRows, bankUpdates } from './table-banks.js';

const open = (): OpenBackend<null> => ({
  name: 'reference',
  device: cpuName(),
  plainKernels: true,
  slice: sliceForThreads,
  settle: () => ({ told: null, skipsRepeats: true }),
});

type InsertPairs = CallerMemory['kernels']['insertTouchedPairs'];

export const referenceBackend: Backend<unknown, null> = {
  name: 'reference',
  open,
  join({ views, banks, thread, pairInsertion }) {
    const insertTouchedPairs = pairInsertion();
    const here: CallerMemory = {
      views,
      kernels: {
        bankIds: bankIds.bind(null, views),
        bankRows: bankRows.bind(null, views),
        bankUpdates: bankUpdates.bind(null, views),
        bankCounts: bankCounts.bind(null, views),
        insertTouchedPairs,
      },
    };
    const { call } = new BankCalls(banks.map(referenceBank), () => here, thread);
    const touch = touching(views, insertTouchedPairs);
    const run = referenceRunStep(views, (opcode, ...operands) =>
      opcode === KERNEL.tableTouch.opcode ? touch(...operands) : call(opcode, ...operands),
    );
    return { run };
  },
};

/** tableTouch: which ids is the reference's, the set is the kernel's. */
function touching(m: Views, insert: InsertPairs): (...operands: number[]) => number {
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
      tableFind: tableFind.bind(null, views),
      tableRetrieve: tableRetrieve.bind(null, views),
      tableApply: tableApply.bind(null, views),
      tablePassOver: tablePassOver.bind(null, views),
      tableStepped: tableStepped.bind(null, views),
    },
  };
}
