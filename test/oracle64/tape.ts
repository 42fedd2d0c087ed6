/**
 * @file Reverse-mode differentiation by single numbers, in float64, with bounds on what float32 makes of every number.
 *
 * A node has a value, a bound (see bounded.ts), and an edge to each number it was made from: the derivative by it, and
 * a bound on that. Ops are written as what they compute; their adjoints follow from the edges, and share nothing with
 * the adjoints of the product.
 */
import { type Bounded, STEPS, TINY, U } from './bounded.js';
import type { Curve } from './curves.js';

/** Products below this may end where float32 has no more bits: then the least float32 is lost too. */
const SMALL = 2 ** -100;

/** Gradient of each node. */
export interface Adjoints {
  of(node: number): Bounded;
}

/** A longer array with the same beginning. */
function grown<T extends Float64Array | Int32Array>(array: T): T {
  const longer = new (array.constructor as new (length: number) => T)(array.length * 2);
  longer.set(array);
  return longer;
}

export class Tape {
  #count = 0;
  #edges = 0;
  #values = new Float64Array(1 << 12);
  #bounds = new Float64Array(1 << 12);
  /** First edge of each node; its edges end where those of the next begin. */
  #first = new Int32Array(1 << 12);
  #to = new Int32Array(1 << 14);
  #slopes = new Float64Array(1 << 14);
  #slopeBounds = new Float64Array(1 << 14);

  value(node: number): number {
    return this.#values[node]!;
  }

  bound(node: number): number {
    return this.#bounds[node]!;
  }

  at(node: number): Bounded {
    return { v: this.value(node), e: this.bound(node) };
  }

  leaf(v: number, e = 0): number {
    return this.#node(this.#edges, v, e);
  }

  /** An edge of the node that is made next. */
  #edge(to: number, slope: number, bound: number): void {
    if (this.#edges === this.#to.length) {
      this.#to = grown(this.#to);
      this.#slopes = grown(this.#slopes);
      this.#slopeBounds = grown(this.#slopeBounds);
    }
    const edge = this.#edges++;
    this.#to[edge] = to;
    this.#slopes[edge] = slope;
    this.#slopeBounds[edge] = bound >= 0 ? bound : Number.POSITIVE_INFINITY;
  }

  /** Makes a node of the edges since `first`. */
  #node(first: number, v: number, e: number): number {
    if (this.#count === this.#values.length) {
      this.#values = grown(this.#values);
      this.#bounds = grown(this.#bounds);
      this.#first = grown(this.#first);
    }
    const node = this.#count++;
    this.#values[node] = v;
    this.#bounds[node] = e >= 0 ? e : Number.POSITIVE_INFINITY;
    this.#first[node] = first;
    return node;
  }

  /** The same number with a gradient of its own, times `factor` on its way back. */
  copy(node: number, factor = 1): number {
    const first = this.#edges;
    this.#edge(node, factor, factor === 1 ? 0 : U * Math.abs(factor));
    return this.#node(first, this.value(node), this.bound(node));
  }

  /** The same number as a constant. */
  stopped(node: number): number {
    return this.leaf(this.value(node), this.bound(node));
  }

  /** factor * sum of the nodes. */
  sum(nodes: ArrayLike<number>, factor = 1): number {
    const n = nodes.length;
    if (n === 0) return this.leaf(0);
    const first = this.#edges;
    const off = Number.isInteger(factor) ? 0 : U * Math.abs(factor);
    let [v, e, size] = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      const node = nodes[i]!;
      v += this.value(node);
      e += this.bound(node);
      size += Math.abs(this.value(node));
      this.#edge(node, factor, off);
    }
    const steps = Math.abs(factor) === 1 ? n - 1 : n - 1 + STEPS;
    return this.#node(first, factor * v, Math.abs(factor) * (e + steps * U * (size + e)));
  }

  add(a: number, b: number): number {
    return this.sum([a, b]);
  }

  /** a - b. */
  sub(a: number, b: number): number {
    const [av, bv, e] = [this.value(a), this.value(b), this.bound(a) + this.bound(b)];
    const first = this.#edges;
    this.#edge(a, 1, 0);
    this.#edge(b, -1, 0);
    return this.#node(first, av - bv, e + U * (Math.abs(av - bv) + e));
  }

  /** a + constant; the constant is a float32. */
  shift(a: number, by: number): number {
    const first = this.#edges;
    this.#edge(a, 1, 0);
    const v = this.value(a) + by;
    return this.#node(first, v, this.bound(a) + U * Math.abs(by) + U * Math.abs(v));
  }

  mul(a: number, b: number): number {
    return this.dot([a], [b]);
  }

  /** Sum of products. */
  dot(as: ArrayLike<number>, bs: ArrayLike<number>): number {
    const first = this.#edges;
    const n = as.length;
    let [v, e, size] = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      const [a, b] = [as[i]!, bs[i]!];
      const [av, bv, ae, be] = [this.#values[a]!, this.#values[b]!, this.#bounds[a]!, this.#bounds[b]!];
      v += av * bv;
      size += Math.abs(av * bv);
      e += Math.abs(av) * be + Math.abs(bv) * ae + ae * be;
      this.#edge(a, bv, be);
      this.#edge(b, av, ae);
    }
    return this.#node(first, v, e + (n - 1 + STEPS) * U * (size + e) + (size > 0 && size < SMALL ? n * TINY : 0));
  }

  div(a: number, b: number): number {
    const [av, bv, ae, be] = [this.value(a), this.value(b), this.bound(a), this.bound(b)];
    const v = av / bv;
    const least = Math.abs(bv) - be;
    const first = this.#edges;
    const within = (size: number) => (least > 0 ? size / least : Number.POSITIVE_INFINITY);
    const e = within(ae + Math.abs(v) * be);
    const slopeBound = within(Math.abs(1 / bv) * be) + STEPS * U * Math.abs(1 / bv);
    this.#edge(a, 1 / bv, slopeBound);
    this.#edge(b, -v / bv, Math.abs(v) * slopeBound + within(e) + STEPS * U * Math.abs(v / bv));
    return this.#node(first, v, e + STEPS * U * (Math.abs(v) + e));
  }

  /** A function of one number. Bounds follow from its values at both ends of where its argument may be. */
  curve(a: number, { f, slope, error, slopeError }: Curve): number {
    const [x, e] = [this.value(a), this.bound(a)];
    const [v, s] = [f(x), slope(x)];
    const first = this.#edges;
    let [spread, bend] = [0, 0];
    if (e > 0) {
      spread = Math.max(Math.abs(f(x + e) - v), Math.abs(f(x - e) - v), Math.abs(s) * e);
      bend = Math.max(Math.abs(slope(x + e) - s), Math.abs(slope(x - e) - s));
    }
    this.#edge(a, s, bend + U * slopeError(x));
    return this.#node(first, v, spread + U * error(x));
  }

  /**
   * A value that is one of several numbers, or a share of some of them: `shares` says which part of the gradient each
   * gets, `open` that rounding may decide otherwise.
   */
  pick(v: number, e: number, nodes: ArrayLike<number>, shares: ArrayLike<number>, open: ArrayLike<number>): number {
    const first = this.#edges;
    for (let i = 0; i < nodes.length; i++) {
      if (shares[i] !== 0 || open[i] !== 0) this.#edge(nodes[i]!, shares[i]!, open[i]! ? 1 : U * STEPS);
    }
    return this.#node(first, v, e);
  }

  /**
   * Gradients of the sum of seed * node over all pairs. A number that was used n times adds n terms up, in any order.
   */
  backward(seeds: readonly (readonly [node: number, seed: Bounded])[]): Adjoints {
    const count = this.#count;
    const [grads, bounds, sizes] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
    const terms = new Float64Array(count);
    for (const [node, { v, e }] of seeds) {
      grads[node]! += v;
      bounds[node]! += e;
      sizes[node]! += Math.abs(v);
      terms[node]!++;
    }
    for (let node = count - 1; node >= 0; node--) {
      if (terms[node] === 0) continue;
      bounds[node]! += (terms[node]! - 1) * U * (sizes[node]! + bounds[node]!);
      const [g, e] = [grads[node]!, bounds[node]!];
      const end = node + 1 < count ? this.#first[node + 1]! : this.#edges;
      for (let edge = this.#first[node]!; edge < end; edge++) {
        const [to, slope, slopeBound] = [this.#to[edge]!, this.#slopes[edge]!, this.#slopeBounds[edge]!];
        const term = g * slope;
        // Times one or minus one nothing is rounded.
        const steps = slopeBound === 0 && Math.abs(slope) === 1 ? 0 : STEPS;
        const off = product(Math.abs(g), slopeBound) + product(Math.abs(slope) + slopeBound, e);
        grads[to]! += term;
        const lost = term !== 0 && Math.abs(term) < SMALL ? TINY : 0;
        bounds[to]! += off + steps * U * (Math.abs(term) + off) + lost;
        sizes[to]! += Math.abs(term);
        terms[to]!++;
      }
    }
    // What is no number is not known.
    return { of: (node) => ({ v: grads[node]!, e: bounds[node]! >= 0 ? bounds[node]! : Number.POSITIVE_INFINITY }) };
  }
}

/** A product of bounds: nothing times what is not known is nothing. */
function product(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}
