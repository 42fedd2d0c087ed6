/** @file What a rule of a row optimizer is, and rules that go by component. State is in the order of memory. */
import { add, type Bounded, exact, mul, rounded, sqrt, square, sumOf } from './bounded.js';

export type Vector = readonly Bounded[];
export interface Stepped {
  readonly w: Vector;
  readonly state: Vector;
}
export interface RowStep {
  readonly w: Vector;
  readonly state: Vector;
  readonly g: Vector;
  readonly eta: Bounded;
  readonly globalStep: number;
}
export interface RowRule {
  initial(dim: number): Vector;
  step(step: RowStep): Stepped;
}
export type Options = Readonly<Record<string, number | boolean>>;

export const ONE = exact(1);
export const ZERO = exact(0);
export const fill = (dim: number, value: Bounded): Bounded[] => new Array<Bounded>(dim).fill(value);
export const reader = (options: Options, defaults: Options) => (key: string) =>
  rounded(Number(options[key] ?? defaults[key]));

/** A rule by component: a function of weight, its states and its gradient that gives the same anew. */
export type Component = (
  w: Bounded,
  states: Vector,
  g: Bounded,
  eta: Bounded,
  shared: Vector,
) => readonly [Bounded, ...Bounded[]];

export interface ByComponent {
  readonly initial: Vector;
  /** States of a row that all components share, after the others. */
  readonly shared?: Vector;
  readonly step: Component;
  readonly advance?: (shared: Vector) => Vector;
}

export function byComponent({ initial, shared = [], step, advance = (same) => same }: ByComponent): RowRule {
  return {
    initial: (dim) => [...initial.flatMap((value) => fill(dim, value)), ...shared],
    step: ({ w, state, g, eta }) => {
      const dim = w.length;
      const common = state.slice(initial.length * dim);
      const next = w.map((weight, c) =>
        step(
          weight,
          initial.map((_, k) => state[k * dim + c]!),
          g[c]!,
          eta,
          common,
        ),
      );
      const states = initial.flatMap((_, k) => next.map((one) => one[k + 1]!));
      return { w: next.map(([weight]) => weight), state: [...states, ...advance(common)] };
    },
  };
}

export const norm = (vector: Vector): Bounded => sqrt(sumOf(vector.map(square)));
/** g + L * w. */
export const decayed = (g: Bounded, decay: Bounded, w: Bounded): Bounded => add(g, mul(decay, w));

export type Make = (options: Options) => RowRule;
