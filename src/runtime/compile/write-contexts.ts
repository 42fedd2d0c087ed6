/** @file Writes the step contexts of a program part: what each thread is told of it. */
import type { Arena } from '../../memory/arena.js';
import { CONTEXT, CONTEXT_BYTES } from '../../memory/program-layout.js';
import type { Views } from '../../memory/views.js';
import type { TraceNames } from '../../trace/trace-names.js';
import type { SlicePlan } from './compile-environment.js';

/**
 * Kernels are recorded in one step of this many, a power of two; phases and waits in all of them. The clock is read
 * around every kernel, which in every step would cost several percent of a small one.
 */
const TRACED_KERNELS_EVERY = 64;

/** What a session has for every program. */
export interface ContextTarget {
  readonly plan: SlicePlan;
  readonly views: Views;
  readonly arena: Arena;
  readonly traceNames: TraceNames;
  readonly control: number;
  /** Trace ring of each thread, 0 where nothing is traced. */
  readonly traceRings: readonly number[];
}

/** Register files, one for each slice or thread. */
export interface RegisterFiles {
  readonly begin: number;
  readonly stride: number;
}

/** What a part of a program is made of, as addresses. */
export interface ContextParts {
  readonly stages: { readonly begin: number; readonly end: number };
  readonly sliceRegisters: RegisterFiles;
  readonly threadRegisters: RegisterFiles;
  readonly bindings: number;
  readonly captures: number;
  readonly placement: number;
}

/** The contexts of all threads, CONTEXT_BYTES apart from `at` on. */
export function writeContexts(target: ContextTarget, at: number, parts: ContextParts): void {
  const { plan, views, traceNames, traceRings, control } = target;
  const { stages, sliceRegisters, threadRegisters, bindings, captures, placement } = parts;
  for (let thread = 0; thread < plan.threads; thread++) {
    const words: Record<keyof typeof CONTEXT, number> = {
      stages: stages.begin,
      stagesEnd: stages.end,
      sliceRegisters: sliceRegisters.begin,
      sliceRegistersStride: sliceRegisters.stride,
      sliceBegin: Math.floor((plan.slices * thread) / plan.threads),
      sliceEnd: Math.floor((plan.slices * (thread + 1)) / plan.threads),
      sliceCount: plan.slices,
      threadRegisters: threadRegisters.begin + thread * threadRegisters.stride,
      control,
      threads: plan.threads,
      trace: traceRings[thread] ?? 0,
      traceBarrier: traceNames.id('wait at barrier', 'wait'),
      bindings,
      failedAt: 0,
      failedDetail: 0,
      captures,
      traceKernels: TRACED_KERNELS_EVERY - 1,
      placement,
    };
    for (const [name, word] of Object.entries(CONTEXT)) {
      views.u32[(at + thread * CONTEXT_BYTES) / 4 + word] = words[name as keyof typeof CONTEXT];
    }
  }
}
