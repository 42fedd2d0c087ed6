/** @file What builders of random graphs work with: the tensors made so far, picks among them, and new variables. */
import type { Graph, Tensor } from '../../src/graph/graph.js';
import * as ml from '../../src/index.js';
import type { Evaluation } from './evaluation.js';
import { Random } from './random.js';

/** Sizes that are no multiples of vectors, and some that are. */
const WIDTHS = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17] as const;
/** Rows beyond this are not put together any further: the oracle has time for small graphs only. */
const COLUMNS_MAX = 72;

export class Workshop {
  readonly graph: Graph;
  /** Tensors with a row per example. */
  readonly tensors: Tensor[] = [];
  readonly feeds: Readonly<Record<string, Tensor>>;
  /** Lookups of columns of ids, one id per example. */
  readonly singles: Tensor[] = [];
  readonly sequences: { readonly ids: Tensor; readonly tensor: Tensor; readonly n: number }[] = [];
  /** Values all examples share that are part of the loss. */
  readonly shared: Tensor[] = [];
  readonly #probe: Evaluation;
  #random = new Random(0);

  constructor(graph: Graph, feeds: Readonly<Record<string, Tensor>>, probe: Evaluation) {
    this.graph = graph;
    this.feeds = feeds;
    this.#probe = probe;
  }

  get random(): Random {
    return this.#random;
  }

  /** Runs `make` with its own draws. */
  with<T>(seed: number, make: (shop: Workshop) => T): T {
    this.#random = new Random(seed);
    return make(this);
  }

  /** Runs a builder. What it could not make, for lack of operands, it leaves out. */
  build(seed: number, make: (shop: Workshop) => Tensor | readonly Tensor[] | undefined): void {
    const made = this.with(seed, make);
    for (const tensor of made === undefined ? [] : [made].flat()) this.take(tensor as Tensor);
  }

  /** Keeps a tensor whose values are fit to be computed with further; what is too large is brought down first. */
  take(tensor: Tensor): void {
    const kept = this.#tamed(tensor);
    if (kept !== undefined) this.tensors.push(kept);
  }

  #tamed(tensor: Tensor): Tensor | undefined {
    const [most, off] = this.#sizes(tensor);
    // Cancellation that leaves nothing but rounding tells nothing.
    if (!Number.isFinite(most) || tensor.columns > COLUMNS_MAX || off > 1e-3 * most + 1e-6) return undefined;
    if (most <= 6) return tensor;
    if (this.random.chance(0.5)) return ml.ops.scale(tensor, 2 ** -Math.ceil(Math.log2(most / 3)));
    return this.random.chance(0.5) ? ml.ops.tanh(tensor) : ml.ops.l2Normalize(tensor, { epsilon: 1e-3 });
  }

  /** The largest value, and the largest bound. */
  #sizes(tensor: Tensor): readonly [number, number] {
    let [most, off] = [0, 0];
    for (const { v, e } of this.#probe.values(tensor)) {
      most = Math.max(most, Number.isFinite(v) ? Math.abs(v) : Number.POSITIVE_INFINITY);
      off = Math.max(off, e);
    }
    return [most, off];
  }

  /** Whether a loss is a number worth comparing. */
  isFit(tensor: Tensor): boolean {
    const [most, off] = this.#sizes(tensor);
    return most < 1e4 && off <= 1e-3 * most + 1e-6;
  }

  // --- operands
  // --------------------------------------------------------------------------------------------------------

  pick(fits: (tensor: Tensor) => boolean = () => true): Tensor | undefined {
    // Later ones are likelier, so that chains grow deep.
    const fitting = this.tensors.filter(fits);
    if (fitting.length === 0) return undefined;
    return this.random.chance(0.5)
      ? fitting[Math.max(0, fitting.length - 1 - this.random.below(3))]
      : this.random.of(fitting);
  }

  any(): Tensor {
    return this.pick() ?? this.feeds.b!;
  }

  /** A tensor of the shape of x: another one, x itself, or one made to fit. */
  like(x: Tensor): Tensor {
    const shape = x.spec.shape.join();
    return this.pick((tensor) => tensor.spec.shape.join() === shape && this.random.chance(0.8)) ?? x;
  }

  /** `[batch, n]` of some width. */
  matrix(least = 1): Tensor {
    return this.pick(({ spec }) => spec.shape.length === 2 && (spec.shape[1] as number) >= least) ?? this.feeds.f!;
  }

  /** `[batch, n, d]`, made by a change of shape if there is none. */
  cube(): Tensor {
    const found = this.pick(({ spec }) => spec.shape.length === 3);
    if (found !== undefined && this.random.chance(0.8)) return found;
    const [n, d] = this.random.of([
      [2, 3],
      [3, 4],
      [4, 2],
      [2, 8],
      [3, 5],
    ] as const);
    return ml.ops.reshape(this.fitted(n * d), [n, d]);
  }

  /** `[batch, width]` out of some tensor, by a product or by columns. */
  fitted(width: number): Tensor {
    const x = this.matrix();
    const columns = x.columns;
    if (columns === width && width > 1) return x;
    if (columns > width && width > 1 && this.random.chance(0.6)) {
      const start = this.random.below(columns - width + 1);
      return ml.ops.columns(x, start, start + width);
    }
    return ml.ops.matMul(x, this.variable([columns, width], 1 / Math.sqrt(columns)));
  }

  /** `[batch]`. */
  column(): Tensor {
    const found = this.pick(({ spec }) => spec.shape.length === 1);
    return found !== undefined && this.random.chance(0.7) ? found : this.flat(this.any());
  }

  /** One number per example out of any tensor. */
  flat(x: Tensor): Tensor {
    if (x.columns === 1) return x.spec.shape.length === 1 ? x : ml.ops.columns(x, 0, 1);
    return this.random.of([
      () => ml.ops.reduceMean(x, { axis: 'columns' }),
      () => ml.ops.columns(x.spec.shape.length > 2 ? ml.ops.reshape(x, [x.columns]) : x, 0, 1),
      () => ml.ops.rowDot(x, x),
      () => ml.ops.columns(ml.ops.matMul(this.rows(x), this.variable([x.columns, 1], 0.5)), 0, 1),
    ])();
  }

  /** The same numbers as `[batch, n]`. */
  rows(x: Tensor): Tensor {
    return x.spec.shape.length === 2 ? x : ml.ops.reshape(x, [x.columns]);
  }

  width(): number {
    return this.random.of(WIDTHS);
  }

  variable(shape: readonly number[], size = 1): Tensor {
    const count = shape.reduce((product, n) => product * n, 1);
    const values = this.random.floats(count, size);
    return ml.ops.variable(this.graph, { name: 'v', shape, initial: () => values });
  }

  /** A number away from zero, as a factor. */
  factor(): number {
    return this.random.of([-1, 0.5, 2, -0.3, 1.25, 1]);
  }
}
