/**
 * @file Compiles the part of a graph that some fetches need into a program in shared memory.
 *
 * The result is complete: instructions, register files of every slice and thread, and a step context per thread. A step
 * then builds nothing.
 */
import { misfit, type Op, Tensor } from '../../graph/graph.js';
import type { Mode } from '../../graph/mode.js';
import type { BatchSchema } from '../../memory/batch.js';
import { CONTEXT_BYTES } from '../../memory/program-layout.js';
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
import { type LeasedBatches, leasedBatches } from './leased-batches.js';
import { type QueueUses, queueUsesOf } from './queue-uses.js';
import { Schedule } from './schedule.js';
import { stepsCounted } from './steps-counted.js';
import type { Storage } from './storage.js';
import { writeBindings } from './write-bindings.js';
import { isBatchScalar, writeCaptures } from './write-captures.js';
import { type ContextTarget, type RegisterFiles, writeContexts } from './write-contexts.js';
import { writeStages } from './write-stages.js';

export interface Program extends FeedLimits {
  /** Step context of thread 0 for a part of the step and a lease; the others follow at `contextStride`. */
  contexts(part: StepPart, lease: number): number;
  readonly contextStride: number;
  /** How the step is cut; undefined for one in one piece, which is the part `step` of lease 0. */
  readonly cut: Cut | undefined;
  /** The tables of a step that somebody else serves, as views of the blocks of a lease. */
  leased(lease: number): readonly LeasedTable[];
  /** What the parts before the step have made of a batch; undefined for a step in one piece. */
  readonly leasedBatches: LeasedBatches | undefined;
  readonly needsBatch: boolean;
  readonly readsRows: boolean;
  /** Undefined for most: it has nothing to do with queues. */
  readonly queues: QueueUses | undefined;
  /** Global steps that a run counts; null when that is up to the batch. */
  readonly steps: number | null;
  storage(tensor: Tensor): Storage;
  /** Scalars per batch that are kept for each command: their index among the captures, and where those are. */
  readonly captured: ReadonlyMap<Tensor, number>;
  readonly captures: { readonly base: number; readonly commandBytes: number };
}

export interface CompileTarget extends CompileEnvironment, ContextTarget {
  /** Whatever a batch can have. */
  readonly feeds: BatchSchema;
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
  const asked = fetches.filter((item): item is Tensor => item instanceof Tensor);
  // What goes into a queue is read after the step, as fetches are.
  const put = queueUsesOf(ops)?.puts.flatMap(({ tensors }) => tensors) ?? [];
  const fetched = new Set([...asked, ...put]);
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

  const captured = new Map([...new Set(asked)].filter(isBatchScalar).map((tensor, index) => [tensor, index]));
  const parts = writeStages(target, context, [...captured.keys()]);
  const captures = writeCaptures(target, context, [...captured.keys()]);
  const contextBytes = CONTEXT_BYTES * plan.threads;
  const contexts = arena.alloc(contextBytes * leases * parts.length, 'step contexts');
  const contextsOf = (part: number, lease: number) => contexts + (lease * parts.length + part) * contextBytes;
  const placement = target.describe?.({ context, fetched }) ?? 0;
  for (const [index, stages] of parts.entries()) {
    for (let lease = 0; lease < leases; lease++) {
      writeContexts(target, contextsOf(index, lease), {
        stages,
        sliceRegisters: fileOf(sliceRegisters, lease * plan.slices),
        threadRegisters: fileOf(threadRegisters, lease * plan.threads),
        bindings,
        captures: stages.part === 'step' ? captures.at : 0,
        placement,
      });
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
    leased: (lease) => context.leased.map((blocks) => leasedTable(target, blocks, lease)),
    leasedBatches: isCut
      ? leasedBatches(context, ops.filter(touchesRows), [
          { registers: context.slice.handedOn, files: sliceRegisters, count: plan.slices },
          { registers: context.thread.handedOn, files: threadRegisters, count: plan.threads },
        ])
      : undefined,
    needsBatch: feeds.length > 0,
    readsRows: ops.some((op) => traitsOf(op).readsRows ?? false),
    steps: stepsCounted(context.ops),
    storage: (tensor) => context.storage(tensor),
    needed: neededFeeds(target.feeds, feeds),
    ragged: raggedLimits(target.feeds, feeds),
    classes: classLimits(target.feeds, context.ops),
    times: timeLimits(target.feeds, context.times),
    // The update of a table reads the ids of its lookups, which need not be among the ops.
    queues: queueUsesOf([...ops, ...feeds.map(({ tensor }) => tensor.op)]),
    captured,
    captures,
  };
}

/** Register files from the `file`th on. */
function fileOf({ begin, stride }: RegisterFiles, file: number): RegisterFiles {
  return { begin: begin + file * stride, stride };
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

/** It reads rows of tables, or steps them. */
function touchesRows(op: Op): boolean {
  return isPushed(op) || (traitsOf(op).readsRows ?? false);
}

function isPushed(op: Op): boolean {
  return traitsOf(op).isPushed ?? false;
}
