/**
 * @file The model that tables are held to: a Map of rows, with first values and common optimizers written out again.
 *
 * Optimizers that are not written out here step through the plain twins of the kernels, which have tests of their own.
 */

import { rateAt } from '../../src/base/rates/rate.js';
import { PARAMETER_BLOCK_BYTES } from '../../src/memory/optimizer-layout.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { Views } from '../../src/memory/views.js';
import { decodeHalfF32, encodeHalfF32, quantizeFixedR8F32 } from '../../src/runtime/backends/reference/compress.js';
import { applyOptimizerF32, initOptimizerState } from '../../src/runtime/backends/reference/optim.js';
import { setStep, writeParameters } from '../../src/sparse/config/optimizer-plan.js';
import type { TableConfig } from '../../src/sparse/config/table-config.js';
import { planTable, type SegmentPlan, type TablePlan } from '../../src/sparse/config/table-plan.js';
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

export interface MapUpdate {
  readonly timeSec?: number;
  readonly globalStep?: number;
  readonly enableDedup?: boolean;
}

/** What one_bit keeps of a weight. Of the smallest floats the product is 0, and then they do not count as above it. */
const isAbove = (x: number, { initScale, amplitude }: { readonly initScale: number; readonly amplitude: number }) =>
  f(f(amplitude) * f(Math.tanh(f(f(initScale) * x)))) > 0;

export class MapTable {
  readonly rows = new Map<bigint, MapRow>();
  readonly plan: TablePlan;
  readonly segments: readonly SegmentPlan[];
  maxUpdateSec = 0;
  readonly #seed: number;
  readonly #skipsZero: boolean;

  constructor(config: TableConfig, seed: number) {
    this.plan = planTable(config);
    this.segments = this.plan.segments;
    this.#seed = seed;
    this.#skipsZero = config.instance.tableConfig.skipZeroEmbedding === true;
  }

  fresh(id: bigint, time = 0): MapRow {
    if (this.plan.serving) {
      return { weights: this.#kept(new Float32Array(this.plan.dim)), state: new Float32Array(0), time };
    }
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

  /** What a lookup shows. */
  show(id: bigint): Float32Array {
    const row = this.rows.get(id);
    if (row === undefined) return new Float32Array(this.plan.dim);
    const shown = row.weights.slice();
    if (this.plan.serving) return shown;
    for (const { dim, weightOffset, compressor } of this.segments) {
      if (compressor.kind !== 'fixedR8') continue;
      shown.set(quantized(shown.subarray(weightOffset, weightOffset + dim), compressor.r), weightOffset);
    }
    return shown;
  }

  /** What a serving row is after it went through its compressors. */
  #kept(weights: Float32Array): Float32Array {
    const kept = weights.slice();
    for (const { dim, weightOffset, compressor } of this.segments) {
      const part = kept.subarray(weightOffset, weightOffset + dim);
      if (compressor.kind === 'fp16') part.set(halves(part));
      if (compressor.kind === 'fixedR8') part.set(quantized(part, compressor.r));
      if (compressor.kind === 'oneBit')
        part.set(part.map((x) => (isAbove(x, compressor) ? compressor.amplitude : -compressor.amplitude)));
    }
    return kept;
  }

  assign(ids: ArrayLike<bigint>, values: Float32Array, { timeSec = 0 }: MapUpdate, add = false): void {
    this.maxUpdateSec = Math.max(this.maxUpdateSec, timeSec);
    const { dim } = this.plan;
    for (let i = 0; i < ids.length; i++) {
      const given = values.subarray(i * dim, (i + 1) * dim);
      if (!add && this.#skipsZero && given.reduce((sum, x) => f(sum + f(x * x)), 0) < 1.17549435e-38) {
        this.rows.delete(ids[i]!);
        continue;
      }
      const row = this.upsert(ids[i]!, timeSec);
      const next = add ? row.weights.map((weight, c) => weight + given[c]!) : given.slice();
      row.weights = this.plan.serving ? this.#kept(next) : next;
    }
  }

  optimize(ids: ArrayLike<bigint>, gradients: Float32Array, update: MapUpdate): void {
    const { timeSec = 0, globalStep = 0, enableDedup = false } = update;
    this.maxUpdateSec = Math.max(this.maxUpdateSec, timeSec);
    const { dim } = this.plan;
    const rows = Array.from(ids, (id, i) => [id, gradients.slice(i * dim, (i + 1) * dim)] as const);
    const sums = new Map<bigint, Float32Array>();
    for (const [id, gradient] of rows) {
      const sum = sums.get(id);
      if (sum === undefined) sums.set(id, gradient.slice());
      else
        gradient.forEach((value, c) => {
          sum[c] = f(sum[c]! + value);
        });
    }
    for (const [id, gradient] of enableDedup ? sums : rows) this.step(id, gradient, timeSec, globalStep);
  }

  reinitialize(ids: ArrayLike<bigint>, timeSec: number): number[] {
    return Array.from(ids, (id) => {
      const status = this.rows.has(id) ? 1 : 0;
      this.rows.set(id, this.fresh(id, timeSec));
      return status;
    });
  }

  remove(ids: ArrayLike<bigint>): number {
    return Array.from(ids, (id) => this.rows.delete(id)).filter(Boolean).length;
  }

  evict(nowSec: number, daysOf: (slot: number) => number): number {
    const before = this.rows.size;
    for (const [id, { time }] of this.rows) {
      const slot = Number((U64(id) >> 48n) & 0x7fffn);
      if (nowSec - time >= daysOf(slot) * 86400) this.rows.delete(id);
    }
    return before - this.rows.size;
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

function quantized(values: Float32Array, r: number): Float32Array {
  page.f32.set(values, WEIGHTS / 4);
  quantizeFixedR8F32(page, WEIGHTS, STATE, values.length, r);
  return page.f32.slice(STATE / 4, STATE / 4 + values.length);
}

function halves(values: Float32Array): Float32Array {
  page.f32.set(values, WEIGHTS / 4);
  encodeHalfF32(page, WEIGHTS, STATE, values.length);
  decodeHalfF32(page, STATE, WEIGHTS, values.length);
  return page.f32.slice(WEIGHTS / 4, WEIGHTS / 4 + values.length);
}

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
