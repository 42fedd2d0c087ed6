/** @file Controls and counters of the simulated driver. A real driver has none of this. */
import { MonolithError } from '../../../base/errors.js';
import { guarded } from './cuda-errors.js';
import type { NativeCuda } from './native.js';
import type { PtxKernel } from './ptx-module.js';

/** What can be set; what is left out stays as it is. docs/gpu.md says what each is for. */
export interface SimulatorControls {
  /** 0 runs blocks and warps in order; any other number picks another schedule, the same each time. */
  seed?: number;
  /** Blocks that run interleaved; 1 runs one after the other. */
  residentBlocks?: number;
  /** Instructions a warp runs before the next warp has a turn. */
  quantum?: number;
  /** Count sectors and bank conflicts; costs up to half the speed. */
  counters?: boolean;
  /** Report races in shared memory and between blocks in global memory. */
  checkRaces?: boolean;
  /** Report loads of memory that nothing has written. */
  checkUninitialized?: boolean;
  /** Run lanes of a warp one by one between warp operations: shows a missing `__syncwarp`. */
  splitLanes?: boolean;
  /** A launch that runs more warp instructions is taken for a live-lock. */
  warpInstructionsMax?: number;
  /** Do asynchronous work only when it is waited for: shows a missing synchronisation. */
  lazyStreams?: boolean;
  /**
   * Which lazy stream moves when one is waited for: 0 that one, and others only as far as it needs them; 1 all others
   * first, as far as events let them; any other number is the seed of a draw, which also begins some work at once.
   */
  streamOrder?: number;
  memoryBytes?: number;
  /** Major times ten plus minor; PTX for a newer device is refused. */
  computeCapability?: number;
  /** As the driver says it: 13000 is CUDA 13.0. PTX newer than that is refused. */
  driverVersion?: number;
  /** 0 is a machine without a GPU. */
  deviceCount?: number;
  /** The error of the driver that loading a module fails with; 0 loads. */
  moduleLoadStatus?: number;
  /** The last of so many launches touches memory that is not there; 0 lets all run. */
  launchesToFault?: number;
  /** Host memory that can be pinned. */
  pinnedBytes?: number;
}

/** Sums over the launches of a kernel since the last reset. The order is that of the simulator. */
export const COUNTER_NAMES = [
  'launches',
  'blocks',
  'warpInstructions',
  'threadInstructions',
  'globalRequests',
  'globalSectors',
  'globalLoadBytes',
  'globalStoreBytes',
  'sharedRequests',
  'sharedWavefronts',
  'atomics',
  'barriers',
  'divergentBranches',
  'nanoseconds',
] as const;

export type SimulatorCounters = Readonly<Record<(typeof COUNTER_NAMES)[number], number>> & {
  /** Threads that took part in an instruction, on average: 32 is best. */
  readonly lanesPerInstruction: number;
};

export class Simulator {
  readonly #native: NativeCuda;

  constructor(native: NativeCuda) {
    this.#native = native;
  }

  /** Sets controls. They hold for the whole process. */
  configure(controls: SimulatorControls): void {
    for (const [name, value] of Object.entries(controls)) {
      if (!Number.isSafeInteger(Number(value)) || Number(value) < 0) {
        throw new MonolithError('ML_FLAG', { flag: name, reason: `must be a whole number or a boolean, got ${value}` });
      }
      guarded(() => this.#native.simulatorSet(name, Number(value)));
    }
  }

  /** The value of a control. */
  control(name: keyof SimulatorControls): number {
    return guarded(() => this.#native.simulatorGet(name));
  }

  counters(kernel: PtxKernel): SimulatorCounters {
    const values = new BigUint64Array(COUNTER_NAMES.length);
    const count = this.#native.simulatorCounters(kernel.handle, values);
    if (count !== values.length) {
      throw new MonolithError('ML_CUDA_DRIVER', {
        reason: `the simulator has ${count} counters, not ${values.length}`,
      });
    }
    const sums = Object.fromEntries(COUNTER_NAMES.map((name, index) => [name, Number(values[index])]));
    const { warpInstructions = 0, threadInstructions = 0 } = sums;
    const lanesPerInstruction = warpInstructions === 0 ? 0 : threadInstructions / warpInstructions;
    return { ...sums, lanesPerInstruction } as SimulatorCounters;
  }

  resetCounters(kernel: PtxKernel): void {
    guarded(() => this.#native.simulatorResetCounters(kernel.handle));
  }

  /** Forgets a fault and all work that waits. A GPU cannot do that: there a fault is the end of the process's work. */
  reset(): void {
    guarded(() => this.#native.simulatorReset());
  }
}
