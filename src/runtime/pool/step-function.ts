/** @file How a pool thread runs a step: the kernels of its backend, and its calls to tables in other memories. */
import { APPLY_SLICE_BYTES, UPDATE_RESULT } from '../../memory/table-layout.js';
import { TOUCHED_SCRATCH_BYTES } from '../../memory/touched-layout.js';
import type { Views } from '../../memory/views.js';
import { CudaDevice } from '../backends/cuda/cuda-device.js';
import { DeviceStep, type HostKernels } from '../backends/cuda/device-step.js';
import { DeviceTimeline } from '../backends/cuda/device-timeline.js';
import { CudaDriver } from '../backends/cuda/driver.js';
import { referenceRunStep } from '../backends/reference/program.js';
import { tableApply, tableFind, tablePassOver, tableRetrieve, tableStepped } from '../backends/reference/table.js';
import { touchedIds } from '../backends/reference/table-admit.js';
import { bankCounts, bankIds, bankRows, bankUpdates } from '../backends/reference/table-banks.js';
import type { TouchedKernels } from '../backends/wasm/calls/touched.js';
import { instantiateKernels } from '../backends/wasm/load-kernels.js';
import { KERNEL } from '../kernels/kernels.js';
import { BankCalls, type CallableBank, type CallerMemory } from '../tables/bank-calls.js';
import { TableMemory } from '../tables/table-memory.js';
import type { CudaJoin, JoinMessage } from './protocol.js';

export type RunStep = (context: number, batch: number, command: number, quiet: number) => number;

/** The steps of a thread, and what it does when there are no more. */
export interface ThreadSteps {
  readonly run: RunStep;
  close(): void;
  /** In place of `close` after a failure. */
  abandon(): void;
}

const nothing = () => {};

export function stepFunction(views: Views, message: JoinMessage): ThreadSteps {
  const { backend, memory, module, tables, thread, cuda } = message;
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
        insertTouchedPairs,
      },
    };
    const { call } = new BankCalls(banks.map(referenceBank), () => here, thread);
    const touch = referenceTouch(views, insertTouchedPairs);
    const run = referenceRunStep(views, (opcode, ...operands) =>
      opcode === KERNEL.tableTouch.opcode ? touch(...operands) : call(opcode, ...operands),
    );
    return { run, close: nothing, abandon: nothing };
  }
  const calls = new BankCalls(banks, () => here, thread);
  const kernels = instantiateKernels(module, memory, calls.call);
  const here: CallerMemory = { views, kernels };
  if (cuda === null) return { run: kernels.runStep, close: nothing, abandon: nothing };
  return cudaSteps(views, cuda, (name) => {
    if (name === KERNEL.bankedFind.name) return calls.find.bind(calls);
    if (name === KERNEL.bankedApply.name) return calls.apply.bind(calls);
    return kernels[name as keyof typeof kernels] as (...operands: number[]) => number;
  });
}

function cudaSteps(views: Views, { driver, device: index, timeline }: CudaJoin, kernels: HostKernels): ThreadSteps {
  const device = new CudaDevice(CudaDriver.open({ driver, device: index }));
  const times = timeline === null ? null : new DeviceTimeline(device, views, timeline);
  const step = new DeviceStep(device, views, kernels, times);
  return {
    run: (context, batch, command, quiet) => step.run(context, batch, command, quiet !== 0),
    close: () => step.close(),
    abandon: () => step.abandon(),
  };
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
