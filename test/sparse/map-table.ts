/** @file The model that tables are held to: a Map of rows, with the initial values and the optimizers written out again. */
import type { OptimizerConfig, SegmentConfig, TableConfig } from '../../src/sparse/table-config.js';
import type { SliceGradients } from './table-fixture.js';

const f = Math.fround;
const U64 = (x: bigint) => BigInt.asUintN(64, x);

function mix(id: bigint): bigint {
  let x = id ^ (id >> 33n);
  x = U64(x * 0xff51afd7ed558ccdn);
  x ^= x >> 33n;
  x = U64(x * 0xc4ceb9fe1a85ec53n);
  return x ^ (x >> 33n);
}

/** First value of one component of a row: a function of seed, id and component alone. */
export function initialValue(segment: SegmentConfig, seed: number, id: bigint, component: number): number {
  const { initializer } = segment;
  if (initializer.kind === 'zeros') return 0;
  if (initializer.kind === 'constant') return f(initializer.value);
  const base = mix(U64(id) ^ U64(BigInt(seed) * 0x9e3779b97f4a7c15n));
  const fraction = Number(mix(U64(base + BigInt(component) * 0xd1b54a32d192ed03n)) >> 40n) / 2 ** 24;
  const [low, high] = [f(initializer.minval), f(initializer.maxval)];
  return f(f(fraction * f(high - low)) + low);
}

export interface MapRow {
  readonly weights: number[];
  readonly state: number[];
}

export class MapTable {
  readonly rows = new Map<bigint, MapRow>();
  readonly #config: TableConfig;
  readonly #seed: number;

  constructor(config: TableConfig, seed: number) {
    this.#config = config;
    this.#seed = seed;
  }

  upsert(id: bigint): MapRow {
    let row = this.rows.get(id);
    if (row === undefined) {
      row = { weights: [], state: [] };
      for (const segment of this.#config.segments) {
        const first = row.weights.length;
        for (let c = 0; c < segment.dim; c++) {
          row.weights.push(initialValue(segment, this.#seed, id, first + c));
        }
        row.state.push(...initialState(segment.optimizer, segment.dim));
      }
      this.rows.set(id, row);
    }
    return row;
  }

  /** Sums per id in slice order, then one step. */
  apply(slices: readonly SliceGradients[]): number {
    const sums = new Map<bigint, number[]>();
    for (const { ids, gradients } of slices) {
      ids.forEach((id, index) => {
        const gradient = gradients[index]!.map(f);
        const sum = sums.get(id);
        sums.set(id, sum === undefined ? gradient : sum.map((value, c) => f(value + gradient[c]!)));
      });
    }
    for (const [id, gradient] of sums) {
      const row = this.upsert(id);
      let [weight, state] = [0, 0];
      for (const { dim, optimizer } of this.#config.segments) {
        for (let c = 0; c < dim; c++) step(row, optimizer, weight + c, state + c, dim, gradient[weight + c]!);
        weight += dim;
        state += initialState(optimizer, dim).length;
      }
    }
    return sums.size;
  }
}

function initialState(optimizer: OptimizerConfig, dim: number): number[] {
  if (optimizer.kind === 'sgd') return [];
  const norm = new Array<number>(dim).fill(f(optimizer.initialAccumulatorValue));
  return optimizer.kind === 'adagrad' ? norm : [...norm, ...new Array<number>(dim).fill(0)];
}

function step({ weights, state }: MapRow, o: OptimizerConfig, w: number, s: number, dim: number, g: number): void {
  const weight = weights[w]!;
  const rate = f(o.learningRate);
  if (o.kind === 'sgd') weights[w] = f(weight - f(rate * g));
  else if (o.kind === 'adagrad') {
    const h = f(g + f(f(o.weightDecayFactor) * weight));
    const norm = f(state[s]! + f(h * h));
    state[s] = norm;
    weights[w] = f(weight - f(f(rate / f(Math.sqrt(norm))) * h));
  } else {
    const norm = f(state[s]! + f(g * g));
    const root = f(Math.sqrt(norm));
    const sigma = f(f(root - f(Math.sqrt(state[s]!))) / rate);
    const zero = f(state[s + dim]! + f(g - f(sigma * weight)));
    state[s] = norm;
    state[s + dim] = zero;
    const push = zero < 0 ? f(o.l1) : 0;
    const next = f(f(rate * f(push - zero)) / f(f(root + f(o.beta)) + f(f(o.l2) * rate)));
    weights[w] = Math.abs(zero) > f(o.l1) ? next : 0;
  }
}
