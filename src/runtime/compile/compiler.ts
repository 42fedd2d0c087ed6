/**
 * @file Compiles the part of a graph that some fetches need into a program in shared memory.
 *
 * The result is complete: instructions, register files of every slice and thread, and a step context per thread. A step
 * then builds nothing.
 */
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import { neededOps } from '../../graph/check-ops-dependence.js';
import { type Op, type OpDef, Tensor } from '../../graph/graph.js';
import { Columns, type ColumnsAttrs } from '../../graph/ops/columns.js';
import { SoftmaxLoss, type SoftmaxLossAttrs } from '../../graph/ops/losses.js';
import { Placeholder, Variable } from '../../graph/ops/state.js';
import { IfTraining } from '../../graph/ops/training.js';
import { StopGradient } from '../../graph/ops/unary.js';
import { BATCH, type BatchSchema, rowBytes } from '../../memory/batch.js';
import { COMMAND_CAPACITY } from '../../memory/control-layout.js';
import {
  BINDING,
  BINDING_KIND,
  BINDING_WORDS,
  BINDINGS,
  CAPTURES,
  CONTEXT,
  CONTEXT_BYTES,
  STAGE,
  STAGE_KIND,
  STAGE_WORDS,
} from '../../memory/program-layout.js';
import { wordsOf } from '../../memory/record-layout.js';
import type { ClassLimit, RaggedLimit } from './check-batch.js';
import { type CompileEnvironment, type FeedUse, LoweringContext, type Storage } from './lowering.js';
import { trains } from './lowering-traits.js';
import { Placement } from './placement.js';
import { Schedule } from './schedule.js';
import './lower/activations.js';
import './lower/attention.js';
import './lower/batch-matmul.js';
import './lower/batch-sum.js';
import './lower/broadcast.js';
import './lower/cached-variables.js';
import './lower/clip.js';
import './lower/columns.js';
import './lower/elementwise.js';
import './lower/inbatch-auc.js';
import './lower/inner.js';
import './lower/losses.js';
import './lower/matmul.js';
import './lower/norms.js';
import './lower/pairs.js';
import './lower/reductions.js';
import './lower/rows.js';
import './lower/sequence.js';
import './lower/shape.js';
import './lower/slices.js';
import './lower/slot-queue.js';
import './lower/state.js';
import './lower/training.js';
import './lower/unary.js';

/**
 * Kernels are recorded in one step of this many, a power of two; phases and waits in all of them. The clock is read
 * around every kernel, which in every step would cost several percent of a small one.
 */
const TRACED_KERNELS_EVERY = 64;

export interface Program {
  /** Step context of thread 0; the others follow at `contextStride`. */
  readonly contexts: number;
  readonly contextStride: number;
  readonly needsBatch: boolean;
  storage(tensor: Tensor): Storage;
  readonly ragged: readonly RaggedLimit[];
  readonly classes: readonly ClassLimit[];
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
  const context = new LoweringContext(target, schedule, new Placement(ops, fetched));
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
    storage: (tensor) => context.storage(tensor),
    ragged: raggedLimits(target.schema, feeds),
    classes: classLimits(target.schema, context.ops),
    captured,
    captures,
  };
}

/**
 * Ops that `fetches` need, in the order they were made: inputs and control inputs exist before the op that names them, so
 * this is an order of execution, and it does not depend on the order of the fetches. Of an IfTraining only the input that
 * is used is needed.
 */
export function executionOrder(fetches: readonly (Tensor | Op)[]): Op[] {
  const used = trains([...neededOps(fetches)]) ? 0 : 1;
  const needed = neededOps(fetches, ({ def, inputs }) =>
    def === (IfTraining as OpDef<unknown>) ? [inputs[used]!] : inputs,
  );
  return fetches[0]?.graph.ops.filter((op) => needed.has(op)) ?? [];
}

/** Where each feed of the schema has its pointers in a batch header. */
export function pointerWords(schema: BatchSchema): Map<string, { index: number; word: number }> {
  const words = new Map<string, { index: number; word: number }>();
  let word = BATCH.pointers;
  schema.forEach((feed, index) => {
    words.set(feed.name, { index, word });
    word += feed.kind === 'ragged' ? 2 : 1;
  });
  return words;
}

/** A number per batch, such as the loss. */
function isBatchScalar(tensor: Tensor): boolean {
  return tensor.spec.shape.length === 0 && tensor.op.def !== (Variable as OpDef<unknown>);
}

/** Writes the code of all stages and the list of stages. */
function writeStages(target: CompileTarget, context: LoweringContext, captured: readonly Tensor[]) {
  const { views, arena, traceNames } = target;
  const slices = context.slice.writeCode(views, arena, 'slice code');
  const threads = context.thread.writeCode(views, arena, 'thread code');
  const last = Math.max(0, ...threads.map(({ stage }) => stage));
  const stages = [
    ...slices.map((list) => ({ ...list, kind: STAGE_KIND.slices, name: 'forward and backward' })),
    ...threads.map((list) => ({
      ...list,
      kind: STAGE_KIND.threads,
      name: list.stage === last ? 'update' : 'sum over the batch',
    })),
  ].sort((a, b) => a.stage - b.stage);
  // A number that the last stage makes is captured by another thread than made it: an empty stage brings a barrier.
  const made = captured.filter((tensor) => context.storage(tensor).kind === 'global' && tensor.op.inputs.length > 0);
  if (made.length > 0 && stages.at(-1)?.kind === STAGE_KIND.threads) {
    stages.push({ kind: STAGE_KIND.slices, stage: last + 1, begin: 0, end: 0, name: 'capture' });
  }
  const words = stages.flatMap(({ kind, begin, end, name }) => {
    const traceName = traceNames.id(name, 'phase');
    return wordsOf(STAGE, STAGE_WORDS, { kind, code: begin, codeEnd: end, traceName });
  });
  const begin = arena.alloc(words.length * 4, 'stages');
  views.u32.set(words, begin / 4);
  return { begin, end: begin + words.length * 4 };
}

function writeCaptures(target: CompileTarget, context: LoweringContext, tensors: readonly Tensor[]) {
  if (tensors.length === 0) return { at: 0, base: 0, commandBytes: 0 };
  const { arena, views, plan } = target;
  const commandBytes = Math.ceil((tensors.length * plan.slices * 4) / 64) * 64;
  const base = arena.alloc(commandBytes * COMMAND_CAPACITY, 'captured scalars');
  const pairs = tensors.flatMap((tensor) => {
    const storage = context.storage(tensor);
    if (storage.kind === 'slice' || storage.kind === 'feed' || storage.kind === 'whole') {
      throw new Error(`${tensor.name} is no scalar`);
    }
    if (storage.kind === 'copies') return [storage.base + context.threadOf(0) * storage.threadBytes, 0];
    return [storage.base, storage.kind === 'global' ? 0 : storage.sliceBytes];
  });
  const at = arena.alloc((CAPTURES.pairs + pairs.length) * 4, 'captures');
  const header = { count: tensors.length, to: base, commandBytes };
  views.u32.set([...wordsOf<keyof typeof header>(CAPTURES, CAPTURES.pairs, header), ...pairs], at / 4);
  return { at, base, commandBytes };
}

function raggedLimits(schema: BatchSchema, feeds: readonly FeedUse[]): RaggedLimit[] {
  const words = pointerWords(schema);
  return feeds.flatMap(({ tensor, ragged }) => {
    const { name } = tensor.op;
    return ragged === undefined ? [] : [{ name, word: words.get(name)!.word, capacity: ragged.capacity }];
  });
}

/** Feeds, or a column of them, that are the classes of a loss as they are; `stopGradient` changes no value. */
function classLimits(schema: BatchSchema, ops: readonly Op[]): ClassLimit[] {
  const words = pointerWords(schema);
  return ops.flatMap(({ def, attrs, inputs, name: op }) => {
    if (def !== (SoftmaxLoss as OpDef<unknown>) || !(attrs as SoftmaxLossAttrs).sparse) return [];
    const logits = inputs[0]!;
    const labels = withoutStops(inputs[1]!);
    const isColumn = labels.op.def === (Columns as OpDef<unknown>);
    const feed = isColumn ? withoutStops(labels.op.inputs[0]!) : labels;
    const place = feed.op.type === Placeholder.type ? words.get(feed.op.name) : undefined;
    if (place === undefined) return [];
    const column = isColumn ? (labels.op.attrs as ColumnsAttrs).start : 0;
    return [{ name: feed.op.name, word: place.word, column, width: feed.columns, classes: logits.columns, op }];
  });
}

function withoutStops(tensor: Tensor): Tensor {
  return tensor.op.def === (StopGradient as OpDef<unknown>) ? withoutStops(tensor.op.inputs[0]!) : tensor;
}

/** ML_FEED of a placeholder, with the line that made it. */
function misfed({ op }: Tensor, reason: string, hint?: string): MonolithError {
  const fields = { name: op.name, reason, ...(op.place && { place: op.place }) };
  return new MonolithError('ML_FEED', fields, hint === undefined ? {} : { hint });
}

type Binding = Readonly<Record<Exclude<keyof typeof BINDING, 'kind'>, number>>;

function bindingOf(kind: keyof typeof BINDING_KIND, binding: Partial<Binding>): number[] {
  const none = { pointer: 0, register: 0, values: 0, valueCount: 0, size: 0, offset: 0, name: 0 };
  return wordsOf(BINDING, BINDING_WORDS, { ...none, ...binding, kind: BINDING_KIND[kind] });
}

function writeBindings(target: CompileTarget, context: LoweringContext, feeds: readonly FeedUse[]): number {
  const words = pointerWords(target.schema);
  const entries: number[][] = [];
  for (const { tensor, registers, ragged } of feeds) {
    const { name } = tensor.op;
    const spec = target.schema.find((feed) => feed.name === name);
    const place = words.get(name);
    if (spec === undefined || place === undefined) {
      const names = target.schema.map((feed) => feed.name);
      throw misfed(tensor, 'the input has no feed of this name', didYouMean(name, names));
    }
    if (ragged !== undefined) {
      if (spec.kind !== 'ragged') throw misfed(tensor, `the input has it as ${spec.kind}, not ragged`);
      const { splits, values, count, capacity } = ragged;
      const pointer = { pointer: place.word, register: splits, name: place.index };
      entries.push(bindingOf('ragged', { ...pointer, values, valueCount: count, size: capacity }));
      continue;
    }
    const [kind, what] = tensor.spec.dtype === 'int64' ? (['ids', 'ids'] as const) : (['dense', 'floats'] as const);
    if (spec.kind !== kind || spec.width !== tensor.columns) {
      throw misfed(tensor, `the model wants ${tensor.columns} ${what} per example`);
    }
    for (const { register, offset } of registers) {
      const binding = { pointer: place.word, register, size: rowBytes(spec), offset, name: place.index };
      entries.push(bindingOf('dense', binding));
    }
  }
  for (const { register, base, rowBytes } of context.fixedRows) {
    entries.push(bindingOf('fixed', { pointer: base, register, size: rowBytes }));
  }
  for (const register of context.batchRowsRegisters) entries.push(bindingOf('batchRows', { register }));
  const { rows, inverseBatch } = context;
  const header = { count: entries.length, rows, inverseBatch, sliceRows: target.plan.sliceRows };
  const at = target.arena.alloc((BINDINGS.entries + BINDING_WORDS * entries.length) * 4, 'bindings');
  target.views.u32.set(
    [...wordsOf<keyof typeof header>(BINDINGS, BINDINGS.entries, header), ...entries.flat()],
    at / 4,
  );
  return at;
}
