/**
 * @file The model that tables are held to: a Map of rows, with first values and common optimizers written out again.
 *
 * Optimizers that are not written out here step through the plain twins of the kernels, which have tests of their own.
 */
import { PARAMETER_BLOCK_BYTES } from '../../src/memory/optimizer-layout.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { Views } from '../../src/memory/views.js';
import { applyOptimizerF32, initOptimizerState } from '../../src/runtime/reference/optim.js';
import { rateAt } from '../../src/sparse/learning-rate.js';
import { setStep, writeParameters } from '../../src/sparse/optimizer-plan.js';
import type { TableConfig } from '../../src/sparse/table-config.js';
import { planTable, type SegmentPlan } from '../../src/sparse/table-plan.js';
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
export function initialValue(
  { initializer }: Pick<SegmentPlan, 'initializer'>,
  seed: number,
  id: bigint,
  component: number,
): number {
  if (initializer.kind === 'constant') return f(initializer.value);
  const base = mix(U64(id) ^ U64(BigInt(seed) * 0x9e3779b97f4a7c15n));
  const fraction = Number(mix(U64(base + BigInt(component) * 0xd1b54a32d192ed03n)) >> 40n) / 2 ** 24;
  const [low, high] = [f(initializer.minval), f(initializer.maxval)];
  return f(f(fraction * f(high - low)) + low);
}

export interface MapRow {
  weights: Float32Array;
  state: Float32Array;
  time: number;
}

export class MapTable {
  readonly rows = new Map<bigint, MapRow>();
  readonly segments: readonly SegmentPlan[];
  readonly #seed: number;

  constructor(config: TableConfig, seed: number) {
    this.segments = planTable(config).segments;
    this.#seed = seed;
  }

  fresh(id: bigint, time = 0): MapRow {
    const weights = this.segments.flatMap((segment) =>
      Array.from({ length: segment.dim }, (_, c) => initialValue(segment, this.#seed, id, segment.weightOffset + c)),
    );
    const state = this.segments.flatMap((segment) => [...initialState(segment)]);
    return { weights: Float32Array.from(weights), state: Float32Array.from(state), time };
  }

  upsert(id: bigint, time?: number): MapRow {
    let row = this.rows.get(id);
    if (row === undefined) {
      row = this.fresh(id);
      this.rows.set(id, row);
    }
    if (time !== undefined) row.time = time;
    return row;
  }

  /** One step of one id; the row is made first. */
  step(id: bigint, gradient: ArrayLike<number>, time = 0, globalStep = 0): void {
    const row = this.upsert(id, time);
    for (const segment of this.segments) {
      const { dim, weightOffset, stateOffset, optimizer } = segment;
      const part = {
        w: row.weights.subarray(weightOffset, weightOffset + dim),
        s: row.state.subarray(stateOffset, stateOffset + optimizer.stateFloats),
        g: Float32Array.from({ length: dim }, (_, c) => gradient[weightOffset + c]!),
      };
      stepSegment(segment, part, globalStep);
    }
  }

  /** Sums per id in slice order, then one step. */
  apply(slices: readonly SliceGradients[], globalStep = 0): number {
    const sums = new Map<bigint, number[]>();
    for (const { ids, gradients } of slices) {
      ids.forEach((id, index) => {
        const gradient = gradients[index]!.map(f);
        const sum = sums.get(id);
        sums.set(id, sum === undefined ? gradient : sum.map((value, c) => f(value + gradient[c]!)));
      });
    }
    for (const [id, gradient] of sums) this.step(id, gradient, 0, globalStep);
    return sums.size;
  }
}

interface Part {
  readonly w: Float32Array;
  readonly s: Float32Array;
  readonly g: Float32Array;
}

/** A page for the twins to work in: parameters, weights, state, gradient. */
const page = new Views(createSharedMemory(1 << 20).buffer);
const [PARAMETERS, WEIGHTS, STATE, GRADIENT] = [65536, 65536 + PARAMETER_BLOCK_BYTES, 200_000, 600_000] as const;

function initialState({ dim, optimizer }: SegmentPlan): Float32Array {
  writeParameters(page, PARAMETERS, optimizer);
  initOptimizerState(page, optimizer.number, STATE, dim, PARAMETERS);
  return page.f32.slice(STATE / 4, STATE / 4 + optimizer.stateFloats);
}

function stepSegment(segment: SegmentPlan, part: Part, globalStep: number): void {
  const { optimizer } = segment;
  const rate = f(rateAt(segment.rate, globalStep));
  if (optimizer.name === 'sgd' || optimizer.name === 'adagrad' || optimizer.name === 'ftrl') {
    for (let c = 0; c < segment.dim; c++) stepOne(segment, part, c, rate);
    return;
  }
  const { w, s, g } = part;
  writeParameters(page, PARAMETERS, optimizer);
  setStep(page, PARAMETERS, rate, BigInt(globalStep));
  page.f32.set(w, WEIGHTS / 4);
  // As words: half of an i64 can be a NaN that floats would not carry over.
  page.u32.set(new Uint32Array(s.buffer, s.byteOffset, s.length), STATE / 4);
  page.f32.set(g, GRADIENT / 4);
  applyOptimizerF32(page, optimizer.number, WEIGHTS, STATE, GRADIENT, segment.dim, PARAMETERS);
  w.set(page.f32.subarray(WEIGHTS / 4, WEIGHTS / 4 + w.length));
  new Uint32Array(s.buffer, s.byteOffset, s.length).set(page.u32.subarray(STATE / 4, STATE / 4 + s.length));
}

function stepOne({ dim, optimizer }: SegmentPlan, { w, s, g: gradient }: Part, c: number, rate: number): void {
  const [weight, g] = [w[c]!, gradient[c]!];
  const values = optimizer.values.map(f);
  if (optimizer.name === 'sgd') w[c] = f(weight - f(rate * g));
  else if (optimizer.name === 'adagrad') {
    const h = f(g + f(values[0]! * weight));
    const norm = f(s[c]! + f(h * h));
    s[c] = norm;
    w[c] = f(weight - f(f(rate / f(Math.sqrt(norm))) * h));
  } else {
    const [beta, l1, l2] = values as [number, number, number];
    const norm = f(s[c]! + f(g * g));
    const root = f(Math.sqrt(norm));
    const sigma = f(f(root - f(Math.sqrt(s[c]!))) / rate);
    const zero = f(s[c + dim]! + f(g - f(sigma * weight)));
    s[c] = norm;
    s[c + dim] = zero;
    const push = zero < 0 ? l1 : 0;
    const next = f(f(rate * f(push - zero)) / f(f(root + beta) + f(l2 * rate)));
    w[c] = Math.abs(zero) > l1 ? next : 0;
  }
}
