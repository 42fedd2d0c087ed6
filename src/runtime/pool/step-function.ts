/** @file How a pool thread runs a step: the kernels of its backend, and its calls to tables in other memories. */
import type { Views } from '../../memory/views.js';
import { BankCalls, type CallableBank, type CallerMemory } from '../bank-calls.js';
import { instantiateKernels } from '../load-kernels.js';
import { referenceRunStep } from '../reference/program.js';
import { tableApply, tableFind, tableRetrieve } from '../reference/table.js';
import { bankIds, bankRows, bankUpdates } from '../reference/table-banks.js';
import { TableMemory } from '../table-memory.js';
import type { JoinMessage } from './protocol.js';

export type RunStep = (context: number, batch: number, command: number, quiet: number) => number;

export function stepFunction(views: Views, { backend, memory, module, tables, thread }: JoinMessage): RunStep {
  const banks = tables === null ? [] : TableMemory.attach(tables).banks;
  if (backend === 'reference') {
    const here: CallerMemory = {
      views,
      kernels: {
        bankIds: (...args) => bankIds(views, ...args),
        bankRows: (...args) => bankRows(views, ...args),
        bankUpdates: (...args) => bankUpdates(views, ...args),
      },
    };
    return referenceRunStep(views, new BankCalls(banks.map(referenceBank), () => here, thread).call);
  }
  const calls = new BankCalls(banks, () => here, thread);
  const kernels = instantiateKernels(module, memory, calls.call);
  const here: CallerMemory = { views, kernels };
  return kernels.runStep;
}

function referenceBank({ views }: Pick<CallableBank, 'views'>): CallableBank {
  return {
    views,
    kernels: {
      tableFind: (...args) => tableFind(views, ...args),
      tableRetrieve: (...args) => tableRetrieve(views, ...args),
      tableApply: (...args) => tableApply(views, ...args),
    },
  };
}
