/**
 * @file Adamom and Rmsprop: optimizers of dense variables beyond those tables share (native_training/optimizers).
 *
 * Variables, gradients and slots are tensors; slots start at zero and are named after the variable. When all of them lie
 * in the kernels' memory the kernel steps them in place, which is what training does; else they pass through a scratch
 * block, which is for tools and tests.
 */
import { MonolithError } from '../base/errors.js';
import { type Arena, CACHE_LINE } from '../memory/arena.js';
import type { OptimKernels } from '../runtime/wasm/optim.js';
import { type Rate, rateAt } from '../sparse/learning-rate.js';
import { Tensor } from '../tensor/tensor.js';

export interface DenseMemory {
  readonly kernels: OptimKernels;
  readonly memory: WebAssembly.Memory;
  readonly arena: Arena;
}

/** A dense optimizer as data: which kernel, and what it takes after weights, slots, gradient, count and rate. */
export interface DenseOptimizer {
  readonly kind: 'dense';
  /** What slots are named by: `<variable>/<name>/m`. */
  readonly name: string;
  readonly slotNames: readonly string[];
  readonly learningRate: Rate;
  readonly kernel: 'applyAdamomF32' | 'applyDenseRmspropF32';
  /** Floats after the rate, then whole numbers. */
  readonly parameters: readonly number[];
  readonly flags: readonly number[];
  /** Steps that change nothing are not run at all. */
  readonly isIdle: boolean;
}

export interface AdamomOptions {
  readonly learningRate?: Rate;
  readonly adaDecay?: number;
  readonly momDecay?: number;
  readonly epsilon?: number;
  readonly weightDecay?: number;
  /** Epsilon outside of the root. */
  readonly useV2?: boolean;
  /** False moves the variable and keeps the slots. */
  readonly updateSlots?: boolean;
  readonly name?: string;
}

export function Adamom(options: AdamomOptions = {}): DenseOptimizer {
  const { learningRate = 5e-6, adaDecay = 0.9999, momDecay = 0.99, epsilon = 1e-6, weightDecay = 0 } = options;
  const { useV2 = false, updateSlots = true, name = 'Adamom' } = options;
  return {
    kind: 'dense',
    name,
    slotNames: ['m', 'v', 'c'],
    learningRate,
    kernel: 'applyAdamomF32',
    parameters: [adaDecay, momDecay, epsilon, weightDecay],
    flags: [useV2 ? 1 : 0, updateSlots ? 1 : 0],
    isIdle: false,
  };
}

export interface RmspropOptions {
  readonly learningRate?: Rate;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
  readonly weightDecay?: number;
  readonly useV2?: boolean;
  /** False makes a step do nothing, as upstream. */
  readonly updateSlots?: boolean;
  readonly name?: string;
}

export function Rmsprop(options: RmspropOptions = {}): DenseOptimizer {
  const { learningRate = 5e-6, beta1 = 0.99, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0 } = options;
  const { useV2 = false, updateSlots = true, name = 'Rmsprop' } = options;
  return {
    kind: 'dense',
    name,
    slotNames: ['m', 'v'],
    learningRate,
    kernel: 'applyDenseRmspropF32',
    parameters: [beta1, beta2, epsilon, weightDecay],
    flags: [useV2 ? 1 : 0],
    isIdle: !updateSlots,
  };
}

/** Slots of a variable, zero, by their full names. */
export function createDenseSlots(
  optimizer: DenseOptimizer,
  variable: Tensor,
  variableName: string,
): Map<string, Tensor> {
  return new Map(
    optimizer.slotNames.map((slot) => [
      `${variableName}/${optimizer.name}/${slot}`,
      new Tensor('float32', variable.shape, new Float32Array(variable.data.length)),
    ]),
  );
}

export interface DenseStep {
  readonly variable: Tensor;
  readonly gradient: Tensor;
  /** In the order of `slotNames`. */
  readonly slots: readonly Tensor[];
  readonly globalStep?: number;
}

/** One step of `variable`, in place. ML_DENSE_SHAPE when something is not shaped as the variable. */
export function applyDense(optimizer: DenseOptimizer, step: DenseStep, memory: DenseMemory): void {
  const { variable, gradient, slots, globalStep = 0 } = step;
  const rate = rateAt(optimizer.learningRate, globalStep);
  checkShape(variable, gradient, 'grad');
  for (const [i, name] of optimizer.slotNames.entries()) checkShape(variable, slots[i], name);
  if (optimizer.isIdle) return;
  const arrays = [variable, gradient, ...slots].map(floatsOf);
  const { buffer } = memory.memory;
  const count = arrays[0]!.length;
  const mark = memory.arena.mark();
  const addresses = arrays.map((array) => {
    if (array.buffer === buffer) return array.byteOffset;
    const at = memory.arena.alloc(count * 4, 'dense step', CACHE_LINE);
    new Float32Array(buffer, at, count).set(array);
    return at;
  });
  const [variableAt, gradientAt, ...slotsAt] = addresses as [number, number, ...number[]];
  const run = memory.kernels[optimizer.kernel] as (...operands: number[]) => void;
  run(variableAt, ...slotsAt, gradientAt, count, rate, ...optimizer.parameters, ...optimizer.flags);
  arrays.forEach((array, i) => {
    if (array.buffer !== buffer && i !== 1) array.set(new Float32Array(buffer, addresses[i]!, count));
  });
  memory.arena.release(mark);
}

/** A hyperparameter given as a tensor: ML_DENSE_SCALAR unless it is one number. */
export function scalarOf(name: string, value: Tensor | number): number {
  if (typeof value === 'number') return value;
  if (value.shape.length !== 0) throw new MonolithError('ML_DENSE_SCALAR', { name, shape: shapeText(value.shape) });
  return Number(value.data[0]);
}

/** The apply of graphs without resource variables, which upstream refuses in these words. */
export function applyDenseLegacy(): never {
  throw new MonolithError('ML_DENSE_LEGACY');
}

function checkShape(variable: Tensor, other: Tensor | undefined, name: string): void {
  const [wanted, found] = [shapeText(variable.shape), other === undefined ? '?' : shapeText(other.shape)];
  if (wanted !== found) throw new MonolithError('ML_DENSE_SHAPE', { name, variable: wanted, found });
}

function floatsOf(tensor: Tensor): Float32Array {
  if (tensor.data instanceof Float32Array) return tensor.data;
  throw new MonolithError('ML_TENSOR', {
    dtype: tensor.dtype,
    shape: tensor.shape,
    reason: 'a dense step takes float32',
  });
}

const shapeText = (shape: readonly number[]): string => `[${shape.join(',')}]`;
