/**
 * @file Shampoo: gradients preconditioned by inverse roots of their second moments along each axis
 * (optimizers/shampoo).
 *
 * One thread steps a variable whole, all of it inside one kernel; variables are dealt out to threads in turn. An axis
 * of size k keeps two k x k slots, and its eigenvalues take time by k^3 every `tau1` steps: a few hundred is a
 * practical size. Axes longer than `eigenHead + eigenTail` keep that many vectors only, but their statistics are as
 * large.
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import type { Rate } from '../base/rates/rate.js';
import { elementCount } from '../graph/graph.js';
import { inverseRootScratch, SHAMPOO, SHAMPOO_AXIS, SHAMPOO_AXIS_WORDS } from '../memory/dense-layout.js';
import type { LoweringContext } from '../runtime/compile/lowering.js';
import type { LoweredStep } from './apply-gradient-op.js';
import { Optimizer, type SlotSpec } from './optimizer.js';

export interface ShampooOptions {
  readonly learningRate?: Rate;
  readonly beta1?: number;
  /** From 1 on, statistics are sums; below, moving averages. */
  readonly beta2?: number;
  /** Steps before preconditioned steps blend in; at twice as many they have taken over. */
  readonly warmup?: number;
  /** Steps between new preconditioners, and between new statistics. */
  readonly tau1?: number;
  readonly tau2?: number;
  readonly eigenHead?: number;
  readonly eigenTail?: number;
  readonly dampingEpsilon?: number;
  readonly name?: string;
}

const AXIS_SLOTS = ['s', 'g', 'pvec', 'pval', 'o'] as const;

/** Preconditions each axis of a variable by the inverse root of its statistics. */
export class ShampooOptimizer extends Optimizer {
  readonly #options: Required<Omit<ShampooOptions, 'learningRate' | 'name'>>;

  constructor(options: ShampooOptions = {}) {
    checkOptions('optim.shampoo', options, [
      'learningRate',
      'beta1',
      'beta2',
      'warmup',
      'tau1',
      'tau2',
      'eigenHead',
      'eigenTail',
      'dampingEpsilon',
      'name',
    ]);
    const { learningRate = 0.03, name = 'Shampoo' } = options;
    const { beta1 = 0.9, beta2 = 1, warmup = 5000, tau1 = 200, tau2 = 20 } = options;
    const { eigenHead = 100, eigenTail = 100, dampingEpsilon = 1e-3 } = options;
    super(name, learningRate);
    const counts = { warmup, tau1, tau2, eigenHead, eigenTail };
    for (const [flag, value] of Object.entries(counts)) checkCount(flag, value, flag.startsWith('tau') ? 1 : 0);
    this.#options = { beta1, beta2, warmup, tau1, tau2, eigenHead, eigenTail, dampingEpsilon };
  }

  override get isRanged(): boolean {
    return false;
  }

  /**
   * `s{i}` and `g{i}` [k, k], `pvec{i}` [k, e], `pval{i}` [e] and `o{i}` [] of each axis; `d`, `m`, `pm` of the
   * variable.
   */
  override slotsOf(shape: readonly number[]): readonly SlotSpec[] {
    const axes = shape.flatMap((k, i) => {
      const e = this.#kept(k);
      const shapes = { s: [k, k], g: [k, k], pvec: [k, e], pval: [e], o: [] } as const;
      return AXIS_SLOTS.map((slot) => this.#slot(`${slot}${i}`, shapes[slot]));
    });
    return [...axes, ...['d', 'm', 'pm'].map((slot) => this.#slot(slot))];
  }

  #slot(slot: string, shape?: readonly number[]): SlotSpec {
    return { slot, suffix: `${this.name}/${slot}`, ...(shape && { shape }) };
  }

  #kept(size: number): number {
    return Math.min(size, this.#options.eigenHead + this.#options.eigenTail);
  }

  override lowerStep(step: LoweredStep): void {
    const { context, kernels, rate, owner } = step;
    const block = this.#writeBlock(step);
    const own = context.thread.each((index) => (index === owner ? block : 0));
    context.emitThread(kernels.applyShampooF32, { block: own, lr: rate, step: stepRegister(context) });
  }

  /** What the kernel reads of the variable, and the buffers it works in. */
  #writeBlock({ context, target, slots, gradient, count }: LoweredStep): number {
    const { views, kernels } = context.environment;
    const shape = target.spec.shape as readonly number[];
    const address = slots.map((slot) => context.environment.variable(slot));
    const sizes = shape.map((k) => ({ k, kept: this.#kept(k), rest: elementCount(shape) / k }));
    const most = (of: (size: (typeof sizes)[number]) => number) => Math.max(4, ...sizes.map(of));
    const gemm = most(({ k, kept, rest }) =>
      Math.max(
        kernels.gemmScratchBytes(k, k, rest),
        kernels.gemmScratchBytes(rest, kept, k),
        kernels.gemmScratchBytes(rest, k, kept),
      ),
    );
    const { beta1, beta2, dampingEpsilon, ...whole } = this.#options;
    const [d, m, pm] = address.slice(-3) as [number, number, number];
    const block = context.alloc((SHAMPOO.axes + SHAMPOO_AXIS_WORDS * shape.length) * 4, 'shampoo block');
    const words: Omit<Record<keyof typeof SHAMPOO, number>, 'beta1' | 'beta2' | 'damping' | 'axes'> = {
      rank: shape.length,
      count,
      variable: context.environment.variable(target),
      gradient,
      d,
      m,
      pm,
      work: context.alloc(count * 4, 'preconditioned'),
      otherWork: context.alloc(count * 4, 'preconditioned'),
      projected: context.alloc(most(({ kept, rest }) => kept * rest) * 4, 'projected'),
      eigen: context.alloc(most(({ k }) => inverseRootScratch(k)) * 8, 'eigen'),
      gemm: context.alloc(gemm, 'packed'),
      ...whole,
    };
    const at = block / 4;
    for (const [name, word] of Object.entries(words)) views.u32[at + SHAMPOO[name as keyof typeof words]] = word;
    views.f32[at + SHAMPOO.beta1] = beta1;
    views.f32[at + SHAMPOO.beta2] = beta2;
    views.f32[at + SHAMPOO.damping] = dampingEpsilon;
    sizes.forEach(({ k, kept }, i) => {
      const axis = at + SHAMPOO.axes + i * SHAMPOO_AXIS_WORDS;
      views.u32[axis + SHAMPOO_AXIS.size] = k;
      views.u32[axis + SHAMPOO_AXIS.kept] = kept;
      AXIS_SLOTS.forEach((slot, j) => {
        views.u32[axis + SHAMPOO_AXIS[slot]] = address[i * AXIS_SLOTS.length + j]!;
      });
    });
    return block;
  }
}

function checkCount(flag: string, value: number, least: number): void {
  if (Number.isInteger(value) && value >= least && value < 2 ** 31) return;
  throw new MonolithError('ML_FLAG', { flag, reason: `${value} is no whole number from ${least}` });
}

const STEP = {};

/** The register of the steps done, one for all variables of a program. */
function stepRegister(context: LoweringContext) {
  return context.shared(STEP, () => {
    const { thread, environment } = context;
    const { u32 } = environment.views;
    return thread.cell(0, (addresses) =>
      environment.onStep(
        (globalStep) => {
          for (const address of addresses) u32[address / 4] = globalStep;
        },
        () => addresses.map((address) => ({ views: environment.views, address })),
      ),
    );
  });
}
