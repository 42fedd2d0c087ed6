/**
 * @file The backend that runs steps on a GPU, or on the simulated driver: one thread of the pool launches, looks ids up
 * and steps rows of tables that stay on the host, all in one slice.
 */
import type { Views } from '../../../memory/views.js';
import { KERNEL } from '../../kernels/kernels.js';
import type { Backend, OpenBackend, SessionPlace, SettledBackend, ThreadSteps } from '../backend.js';
import { BankCalls, type CallerMemory } from '../bank-calls.js';
import { instantiateKernels } from '../wasm/instantiate-kernels.js';
import { CudaDevice } from './cuda-device.js';
import type { CudaOptions } from './cuda-options.js';
import { DeviceStep, type HostKernels } from './device-step.js';
import { DeviceTimeline, type TimelineRings } from './device-timeline.js';
import { CudaDriver } from './driver.js';
import { noDeviceTables, ResidentTables } from './resident-tables.js';
import { ResidentVariables } from './resident-variables.js';
import { tryInitCuda } from './try-init-cuda.js';
import { writePlacement } from './write-placement.js';

/** What the thread that drives the GPU is told. */
export interface CudaTold {
  /** Path of the driver. */
  readonly driver: string;
  readonly device: number;
  /** Null when nothing is traced. */
  readonly timeline: TimelineRings | null;
}

export const cudaBackend: Backend<CudaOptions, CudaTold> = {
  name: 'cuda',
  open(options) {
    const driver = tryInitCuda(options.cuda);
    return driver instanceof CudaDriver ? openOn(driver, options) : driver;
  },
  join({ views, memory, module, banks, thread }, told) {
    const calls = new BankCalls(banks, () => here, thread);
    const kernels = instantiateKernels(module, memory, calls.call);
    const here: CallerMemory = { views, kernels };
    return stepsOn(views, told, (name) => {
      if (name === KERNEL.bankedFind.name) return calls.find.bind(calls);
      if (name === KERNEL.bankedApply.name) return calls.apply.bind(calls);
      return kernels[name as keyof typeof kernels] as (...operands: number[]) => number;
    });
  },
  misplaced: noDeviceTables,
};

function openOn(driver: CudaDriver, options: CudaOptions): OpenBackend<CudaTold> {
  return {
    name: 'cuda',
    device: driver.device.name,
    plainKernels: false,
    slice: () => ({ threads: 1, slices: 1 }),
    settle: (place) => settleOn(driver, options, place),
  };
}

function settleOn(driver: CudaDriver, options: CudaOptions, place: SessionPlace): SettledBackend<CudaTold> {
  const { useGpuEmbTable = false, cuda } = options;
  const { views, arena, trace } = place;
  const variables = new ResidentVariables(views, arena, driver, place.variables);
  const tables = useGpuEmbTable
    ? new ResidentTables(views, arena, driver, useGpuEmbTable === true ? {} : useGpuEmbTable)
    : undefined;
  return {
    told: { driver: driver.path, device: cuda?.device ?? 0, timeline: timelineOf(trace) },
    skipsRepeats: false,
    variables,
    ...(tables && { tables }),
    describe: (program) => writePlacement(place, variables, tables?.records ?? [], program),
    close: () => tables?.close(),
  };
}

/** Rings for what the GPU does are among the threads from now on. */
function timelineOf(trace: SessionPlace['trace']): TimelineRings | null {
  const [compute, copy] = ['gpu compute', 'gpu copies'].map((name) => trace.addThread(name));
  if (!compute || !copy) return null;
  const [toDevice, toHost] = ['copy to device', 'copy to host'].map((name) => trace.names.id(name, 'io'));
  return { compute: compute.ptr, copy: copy.ptr, toDevice: toDevice!, toHost: toHost! };
}

function stepsOn(views: Views, { driver, device: index, timeline }: CudaTold, kernels: HostKernels): ThreadSteps {
  const device = new CudaDevice(CudaDriver.open({ driver, device: index }));
  const times = timeline === null ? null : new DeviceTimeline(device, views, timeline);
  const step = new DeviceStep(device, views, kernels, times);
  return {
    run: (context, batch, command, quiet) => step.run(context, batch, command, quiet !== 0),
    close: () => step.close(),
    abandon: () => step.abandon(),
  };
}
