/**
 * @file Clipping of gradients in a graph: by value, by the norm of each, by the norm of all (clip_ops, tf.clip_by_*).
 *
 * A norm is that of sums over the whole batch, so those are completed first; a barrier then stands between the squares and
 * who reads the norm. Squares are added in f64 and in an order that does not depend on the number of threads. What is
 * clipped may also be rows per example, such as the gradients of lookups.
 */
import { MonolithError } from '../base/errors.js';
import { misfit, type OpDef, type Tensor } from '../graph/graph.js';
import { batchSum } from '../graph/ops/batch-sum.js';
import { GRADIENT_BLOCK } from '../memory/dense-layout.js';
import { KERNEL } from '../runtime/kernels.js';
import { operands, registerLowering } from '../runtime/lowering.js';

const complete = (x: Tensor): Tensor => batchSum(x, { by: 'threads' });

function checkFloats(type: string, x: Tensor): void {
  if (x.spec.dtype !== 'float32' || x.spec.partial) throw misfit(type, `${x.name} holds no floats that are complete`);
}

// --- by value --------------------------------------------------------------------------------------------------------

export const ClipByValue: OpDef<{ readonly low: number; readonly high: number }> = {
  type: 'ClipByValue',
  infer: ([x], { low, high }) => {
    checkFloats('ClipByValue', x!);
    if (x!.perExample) throw misfit('ClipByValue', `${x!.name} has a row per example`);
    if (!(low <= high)) throw misfit('ClipByValue', `${low} to ${high} is no range`);
    return [x!.spec];
  },
};

/** `min(max(x, low), high)`. A NaN stays one. */
export function clipByValue(x: Tensor, low: number, high: number, name?: string): Tensor {
  return x.graph.add(ClipByValue, [complete(x)], { low, high }, name).output;
}

registerLowering(
  ClipByValue,
  (op, context) => {
    const { thread } = context;
    const { base } = context.storage(op.inputs[0]!) as { readonly base: number };
    const range = context.threadRange(op.output.columns);
    const out = range.at(context.allocateGlobal(op.output).base);
    const limits = [thread.constantF32(op.attrs.low), thread.constantF32(op.attrs.high)];
    context.emitThread(KERNEL.clipValueF32, [range.at(base), out, range.floats, ...limits]);
  },
  { phase: { runs: 'threads', reads: 'range', gives: 'range' } },
);

// --- squares and norms -----------------------------------------------------------------------------------------------

/** Sums of squares, f64 that lie in pairs of floats: one per block, or of rows per example one per slice. */
export const SquareSums: OpDef<null> = {
  type: 'SquareSums',
  infer: ([x]) => {
    checkFloats('SquareSums', x!);
    if (x!.perExample) return [{ dtype: 'float32', shape: [2], partial: true }];
    return [{ dtype: 'float32', shape: [2 * Math.ceil(x!.columns / GRADIENT_BLOCK)] }];
  },
};

registerLowering(
  SquareSums,
  (op, context) => {
    const x = op.inputs[0]!;
    if (x.perExample) {
      const { pointer, stride, columns } = context.matrix(x);
      const out = context.output(op.output).pointer;
      context.emit(KERNEL.rowSquaresF64, [pointer, stride, context.rows, context.slice.constant(columns), out]);
      return;
    }
    const { base } = context.storage(x) as { readonly base: number };
    const range = context.threadRange(x.columns, GRADIENT_BLOCK);
    const sums = range.at(context.allocateGlobal(op.output).base, 8 / GRADIENT_BLOCK);
    context.emitThread(KERNEL.blockSquaresF32, [range.at(base), range.floats, sums]);
  },
  { phase: ({ inputs: [x] }) => (x!.perExample ? { runs: 'slices' } : { runs: 'threads', reads: 'range' }) },
);

/** Inputs: sums of squares. Every thread adds them up for itself. */
export const GlobalNorm: OpDef<null> = {
  type: 'GlobalNorm',
  infer: () => [{ dtype: 'float32', shape: [] }],
};

registerLowering(
  GlobalNorm,
  (op, context) => {
    const { thread, plan } = context;
    const cells = context.alloc(64 * plan.threads, 'sum of squares');
    const total = thread.each((index) => cells + index * 64);
    op.inputs.forEach((sums, index) => {
      const storage = context.storage(sums);
      const isParts = storage.kind === 'partial';
      if (!isParts && storage.kind !== 'global') throw misfit(op.name, `${sums.name} holds no sums of squares`);
      const [stride, count] = isParts ? [storage.sliceBytes, plan.slices] : [8, sums.columns / 2];
      const from = [storage.base, stride, count].map((value) => thread.constant(value));
      context.emitThread(KERNEL.addSumsF64, [...from, total, thread.constant(index === 0 ? 0 : 1)]);
    });
    context.emitThread(KERNEL.rootF64, [total, context.allocateCopies(op.output)]);
  },
  { phase: { runs: 'threads', gives: 'copy' } },
);

/** Euclidean norm of all values of all tensors together. */
export function globalNorm(tList: readonly (Tensor | undefined)[], name = 'global_norm'): Tensor {
  const given = tList.filter((x) => x !== undefined);
  if (given.length === 0) throw misfit(name, 'there is no tensor to take the norm of');
  const { graph } = given[0]!;
  const sums = given.map((x) => graph.add(SquareSums, [complete(x)], null).output);
  return graph.add(GlobalNorm, sums, null, name).output;
}

// --- by norm ---------------------------------------------------------------------------------------------------------

/** Inputs: what is clipped, the norm. */
export const ClipByNorm: OpDef<{ readonly clipNorm: number }> = {
  type: 'ClipByNorm',
  infer: ([x, norm], { clipNorm }) => {
    checkFloats('ClipByNorm', x!);
    if (norm!.spec.shape.length !== 0) throw misfit('ClipByNorm', `${norm!.name} is no single number`);
    if (!(clipNorm >= 0)) throw misfit('ClipByNorm', `a norm cannot be clipped to ${clipNorm}`);
    return [x!.spec];
  },
};

registerLowering(
  ClipByNorm,
  (op, context) => {
    const [x, norm] = op.inputs as [Tensor, Tensor];
    if (x.perExample) {
      const { slice } = context;
      const [from, to] = [context.matrix(x), context.output(op.output)];
      const size = [context.rows, slice.constant(to.columns)];
      const clip = [context.pointer(norm), slice.constantF32(op.attrs.clipNorm)];
      context.emit(KERNEL.clipByNormF32, [...operands(from, to), ...size, ...clip]);
      return;
    }
    const { thread } = context;
    const { base } = context.storage(x) as { readonly base: number };
    const { at, floats } = context.threadRange(op.output.columns);
    const out = at(context.allocateGlobal(op.output).base);
    const size = [thread.constant(1), floats];
    const clip = [context.threadPointer(norm), thread.constantF32(op.attrs.clipNorm)];
    context.emitThread(KERNEL.clipByNormF32, [at(base), floats, out, floats, ...size, ...clip]);
  },
  {
    phase: ({ inputs: [x] }) =>
      x!.perExample ? { runs: 'slices' } : { runs: 'threads', reads: 'range', gives: 'range' },
  },
);

/** `x`, scaled down to a norm of `clipNorm` where its own is larger. `norm` replaces the norm that would be computed. */
export function clipByNorm(x: Tensor, clipNorm: number, norm?: Tensor, name?: string): Tensor {
  const whole = complete(x);
  return x.graph.add(ClipByNorm, [whole, norm ?? globalNorm([whole])], { clipNorm }, name).output;
}

export interface ClippedTensors<T extends Tensor | undefined> {
  readonly clipped: readonly T[];
  /** 0 for an empty list. */
  readonly globalNorm: Tensor | 0;
}

/**
 * All tensors, scaled by `clipNorm / globalNorm` where the norm of all of them together is larger. A norm that is no number
 * changes nothing; an infinite one makes infinities NaN and the rest 0. `undefined` stays.
 *
 * ```ts
 * const { clipped, globalNorm } = clipByGlobalNorm(gradients([loss], variables), 5);
 * ```
 */
export function clipByGlobalNorm<T extends Tensor | undefined>(
  tList: readonly T[],
  clipNorm: number,
  useNorm?: Tensor,
): ClippedTensors<T> {
  if (!Array.isArray(tList)) throw new MonolithError('ML_CLIP_LIST');
  if (tList.every((x) => x === undefined)) return { clipped: tList, globalNorm: 0 };
  const whole = tList.map((x) => x && complete(x));
  const norm = useNorm ?? globalNorm(whole);
  const clipped = whole.map((x) => x && clipByNorm(x, clipNorm, norm)) as T[];
  return { clipped, globalNorm: norm };
}
