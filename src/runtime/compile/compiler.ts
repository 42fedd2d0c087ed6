/**
 * @file Compiles the part of a graph that some fetches need into a program in shared memory.
 *
 * The result is complete: instructions, register files of every slice and thread, and a step context per thread. A step
 * then builds nothing.
 */
import { misfit, type Op, Tensor } from '../../graph/graph.js';
import type { Mode } from '../../graph/mode.js';
import type { BatchSchema } from '../../memory/batch.js';
import { CONTEXT, CONTEXT_BYTES } from '../../memory/program-layout.js';
import { classLimits, neededFeeds, raggedLimits, timeLimits } from './batch-limits.js';
import type { FeedLimits } from './check-batch.js';
import type { StepPart } from './code.js';
import type { CompileEnvironment, Cut } from './compile-environment.js';
import { executionOrder, modeOf } from './execution-order.js';
import { type LeasedTable, leasedTable } from './leased-table.js';
import { LoweringContext } from './lowering.js';
import { phaseOf, traitsOf } from './lowering-traits.js';
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
  /** Step context of thread 0 for a part of the step and a lease; the others follow at `contextStride`. */
  contexts(part: StepPart, lease: number): number;
  readonly contextStride: number;
  /** How the step is cut; undefined for one in one piece, which is the part `step` of lease 0. */
  readonly cut: Cut | undefined;
  /** The tables of a cut step, as views of the blocks of a lease. */
  leased(lease: number): readonly LeasedTable[];
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

/** How a program is compiled, where it is not as its graph says. */
export interface CompileOptions {
  readonly mode?: Mode | undefined;
  /** How to cut a step that updates tables; others are in one piece whatever it says. */
  readonly cut?: Cut | undefined;
}

export function compile(
  target: CompileTarget,
  fetches: readonly (Tensor | Op)[],
  { mode: told, cut }: CompileOptions = {},
): Program {
  const mode = modeOf(fetches, told);
  const ops = executionOrder(fetches, mode);
  const fetched = new Set(fetches.filter((item): item is Tensor => item instanceof Tensor));
  const schedule = new Schedule(ops);
  const isCut = cut !== undefined && ops.some(isPushed);
  if (isCut) refuseLater(ops, schedule);
  const context = new LoweringContext(target, schedule, new Destinations(ops, fetched), {
    mode,
    cut: isCut ? cut : undefined,
  });
  for (const op of schedule.order) context.lower(op);

  const { views, arena, plan } = target;
  const feeds = [...context.feeds.values()];
  const bindings = writeBindings(target, context, feeds);
  const { leases } = context;
  const [ofSlices, ofThreads] = [
    { count: plan.slices, leases, what: 'slice registers' },
    { count: plan.threads, leases, what: 'thread registers' },
  ];
  const sliceRegisters = context.slice.writeRegisters(views, arena, ofSlices);
  const threadRegisters = context.thread.writeRegisters(views, arena, ofThreads);

  const captured = new Map([...fetched].filter(isBatchScalar).map((tensor, index) => [tensor, index]));
  const parts = writeStages(target, context, [...captured.keys()]);
  const captures = writeCaptures(target, context, [...captured.keys()]);
  const contextBytes = CONTEXT_BYTES * plan.threads;
  const contexts = arena.alloc(contextBytes * leases * parts.length, 'step contexts');
  const contextsOf = (part: number, lease: number) => contexts + (lease * parts.length + part) * contextBytes;
  const placement = target.describe?.({ context, fetched }) ?? 0;
  for (const [index, { part, begin, end }] of parts.entries()) {
    for (let file = 0; file < plan.threads * leases; file++) {
      const [thread, lease] = [file % plan.threads, Math.floor(file / plan.threads)];
      const words: Record<keyof typeof CONTEXT, number> = {
        stages: begin,
        stagesEnd: end,
        sliceRegisters: sliceRegisters.begin + lease * plan.slices * sliceRegisters.stride,
        sliceRegistersStride: sliceRegisters.stride,
        sliceBegin: Math.floor((plan.slices * thread) / plan.threads),
        sliceEnd: Math.floor((plan.slices * (thread + 1)) / plan.threads),
        sliceCount: plan.slices,
        threadRegisters: threadRegisters.begin + file * threadRegisters.stride,
        control: target.control,
        threads: plan.threads,
        trace: target.traceRings[thread] ?? 0,
        traceBarrier: target.traceNames.id('wait at barrier', 'wait'),
        bindings,
        failedAt: 0,
        failedDetail: 0,
        captures: part === 'step' ? captures.at : 0,
        traceKernels: TRACED_KERNELS_EVERY - 1,
        placement,
      };
      const at = (contextsOf(index, lease) + thread * CONTEXT_BYTES) / 4;
      for (const [name, word] of Object.entries(CONTEXT)) views.u32[at + word] = words[name as keyof typeof CONTEXT];
    }
  }
  return {
    contexts: (wanted, lease) => {
      const index = parts.findIndex(({ part }) => part === wanted);
      if (index < 0) throw new Error(`the step has no part ${wanted}`);
      return contextsOf(index, lease);
    },
    contextStride: CONTEXT_BYTES,
    cut: context.cut,
    leased: (lease) => context.leased.map((blocks) => leasedTable(target, blocks, sliceRegisters, lease)),
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

/** A cut step updates tables last: what waits for such an update would run before it. */
function refuseLater(ops: readonly Op[], schedule: Schedule): void {
  const end = Math.max(...ops.filter(isPushed).map((op) => schedule.of(op).thread));
  for (const op of ops) {
    const { runs } = phaseOf(op);
    if (runs === 'nothing' || schedule.of(op)[runs === 'slices' ? 'slice' : 'thread'] <= end) continue;
    throw misfit(
      op,
      'it runs after the update of a table, which a cut step leaves to the end',
      'fetch it in a run of its own, or make the session without prefetch, postpush and rows',
    );
  }
}

function isPushed(op: Op): boolean {
  return traitsOf(op).isPushed ?? false;
}
