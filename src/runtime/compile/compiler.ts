/**
 * @file Compiles the part of a graph that some fetches need into a program in shared memory.
 *
 * The result is complete: instructions, register files of every slice and thread, and a step context per thread. A step
 * then builds nothing.
 */
import { type Op, Tensor } from '../../graph/graph.js';
import type { BatchSchema } from '../../memory/batch.js';
import { CONTEXT, CONTEXT_BYTES } from '../../memory/program-layout.js';
import { classLimits, neededFeeds, raggedLimits, timeLimits } from './batch-limits.js';
import type { FeedLimits } from './check-batch.js';
import type { CompileEnvironment } from './compile-environment.js';
import { executionOrder } from './execution-order.js';
import { LoweringContext } from './lowering.js';
import './lower/all.js';
import { Destinations } from './destinations.js';
import { Schedule } from './schedule.js';
import { stepsCounted } from './steps-counted.js';
import type { Storage } from './storage.js';
import { writeBindings } from './write-bindings.js';
import { isBatchScalar, writeCaptures } from './write-captures.js';
import { writeStages } from './write-stages.js';

/**
 * Kernels are recorded in one step of this many, a power of two; phases and waits in all of them. The clock is read
 * around every kernel, which in every step would cost several percent of a small one.
 */
const TRACED_KERNELS_EVERY = 64;

export interface Program extends FeedLimits {
  /** Step context of thread 0; the others follow at `contextStride`. */
  readonly contexts: number;
  readonly contextStride: number;
  readonly needsBatch: boolean;
  /** Global steps that a run counts; null when that is up to the batch. */
  readonly steps: number | null;
  storage(tensor: Tensor): Storage;
  /** Scalars per batch that are kept for each command: their index among the captures, and where those are. */
  readonly captured: ReadonlyMap<Tensor, number>;
  readonly captures: { readonly base: number; readonly commandBytes: number };
}

export interface CompileTarget extends CompileEnvironment {
  readonly schema: BatchSchema;
  readonly control: number;
  /** Trace ring of each thread, 0 where nothing is traced. */
  readonly traceRings: readonly number[];
  /** Writes down what the backend's threads must know of a program beyond it, and gives the address. */
  describe?(program: LaidOutProgram): number;
}

/** A program that is laid out but for its contexts. */
export interface LaidOutProgram {
  readonly context: LoweringContext;
  readonly fetched: ReadonlySet<Tensor>;
}

export function compile(target: CompileTarget, fetches: readonly (Tensor | Op)[]): Program {
  const ops = executionOrder(fetches);
  const fetched = new Set(fetches.filter((item): item is Tensor => item instanceof Tensor));
  const schedule = new Schedule(ops);
  const context = new LoweringContext(target, schedule, new Destinations(ops, fetched));
  for (const op of schedule.order) context.lower(op);

  const { views, arena, plan } = target;
  const feeds = [...context.feeds.values()];
  const bindings = writeBindings(target, context, feeds);
  const sliceRegisters = context.slice.writeRegisters(views, arena, plan.slices, 'slice registers');
  const threadRegisters = context.thread.writeRegisters(views, arena, plan.threads, 'thread registers');

  const captured = new Map([...fetched].filter(isBatchScalar).map((tensor, index) => [tensor, index]));
  const stages = writeStages(target, context, [...captured.keys()]);
  const captures = writeCaptures(target, context, [...captured.keys()]);
  const contexts = arena.alloc(CONTEXT_BYTES * plan.threads, 'step contexts');
  const placement = target.describe?.({ context, fetched }) ?? 0;
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
      control: target.control,
      threads: plan.threads,
      trace: target.traceRings[thread] ?? 0,
      traceBarrier: target.traceNames.id('wait at barrier', 'wait'),
      bindings,
      failedAt: 0,
      failedDetail: 0,
      captures: captures.at,
      traceKernels: TRACED_KERNELS_EVERY - 1,
      placement,
    };
    const at = (contexts + thread * CONTEXT_BYTES) / 4;
    for (const [name, word] of Object.entries(CONTEXT)) views.u32[at + word] = words[name as keyof typeof CONTEXT];
  }
  return {
    contexts,
    contextStride: CONTEXT_BYTES,
    needsBatch: feeds.length > 0,
    steps: stepsCounted(context.ops),
    storage: (tensor) => context.storage(tensor),
    needed: neededFeeds(target.schema, feeds),
    ragged: raggedLimits(target.schema, feeds),
    classes: classLimits(target.schema, context.ops),
    times: timeLimits(target.schema, context.times),
    captured,
    captures,
  };
}
