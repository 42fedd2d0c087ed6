/**
 * @file A table as its definition says, on a plain Map: what the forms made of several tables are held to.
 *
 * Rows step by the plain TypeScript kernels over a memory of a few rows, so any optimizer works; no retriever, no
 * compressor, no filter, constant initializers only.
 */

import { type Rate, rateAt } from '../../src/base/rates/rate.js';
import { PARAMETER_BLOCK_BYTES } from '../../src/memory/optimizer-layout.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { Views } from '../../src/memory/views.js';
import { applyOptimizerF32, initOptimizerState } from '../../src/runtime/backends/reference/optim.js';
import type { EmbeddingHashTableConfig } from '../../src/sparse/config/config-messages.js';
import { slotOfFidV2 } from '../../src/sparse/config/fid.js';
import { planInitializer } from '../../src/sparse/config/initializers.js';
import {
  type OptimizerPlan,
  planOptimizer,
  setStep,
  stepError,
  writeParameters,
} from '../../src/sparse/config/optimizer-plan.js';
import type { HashTableConfigInstance } from '../../src/sparse/config/table-config.js';
import type {
  EmbeddingTable,
  IdArray,
  OptimizeOptions,
  UpdateOptions,
} from '../../src/sparse/table/embedding-table.js';

interface Row {
  readonly weights: Float32Array;
  /** One block of words per segment. */
  readonly state: readonly Uint32Array[];
  timeSec: number;
}

interface ModelSegment {
  readonly plan: OptimizerPlan;
  readonly initial: number;
  readonly from: number;
}

const PARAMETERS = 64;
const WEIGHTS = 1024;
const views = new Views(createSharedMemory(65536).buffer);
const STATE = 16384;
const GRADIENT = 32768;

export class ModelTable implements EmbeddingTable {
  readonly name: string;
  readonly dim: number;
  readonly #segments: readonly ModelSegment[];
  readonly #rates: readonly Rate[];
  readonly #config: EmbeddingHashTableConfig;
  readonly #rows = new Map<bigint, Row>();

  constructor(name: string, { tableConfig, segments, learningRateFns }: HashTableConfigInstance) {
    this.name = name;
    this.#config = tableConfig;
    this.#rates = learningRateFns;
    let from = 0;
    this.#segments = segments.map(({ dimSize = 0, initConfig = {}, optConfig = {} }) => {
      const initializer = planInitializer(initConfig);
      if (initializer.kind !== 'constant') throw new Error('the model has constant initializers only');
      from += dimSize;
      return { plan: planOptimizer(optConfig, dimSize), initial: initializer.value, from: from - dimSize };
    });
    this.dim = from;
  }

  get sliceSize(): number {
    return this.#segments.length;
  }

  get size(): number {
    return this.#rows.size;
  }

  contains(ids: IdArray): Uint8Array {
    return Uint8Array.from(ids, (id) => Number(this.#rows.has(signed(id))));
  }

  lookup(ids: IdArray, out = new Float32Array(ids.length * this.dim)): Float32Array {
    ids.forEach((id: bigint, i: number) => {
      const row = this.#rows.get(signed(id));
      if (row === undefined) out.fill(0, i * this.dim, (i + 1) * this.dim);
      else out.set(row.weights, i * this.dim);
    });
    return out;
  }

  /** The weights' own bytes stand for the message, which tables write and this model does not know. */
  lookupEntry(ids: IdArray): Uint8Array[] {
    return Array.from(ids, (id) => {
      const row = this.#rows.get(signed(id));
      return row === undefined ? new Uint8Array(0) : new Uint8Array(row.weights.buffer.slice(0));
    });
  }

  assign(ids: IdArray, values: Float32Array, options: UpdateOptions = {}): void {
    this.#each(ids, values, options, (row, value) => row.weights.set(value));
  }

  assignAdd(ids: IdArray, values: Float32Array, options: UpdateOptions = {}): void {
    this.#each(ids, values, options, ({ weights }, value) => {
      for (let c = 0; c < weights.length; c++) weights[c] = weights[c]! + value[c]!;
    });
  }

  optimize(ids: IdArray, gradients: Float32Array, options: OptimizeOptions = {}): void {
    const { globalStep = 0, learningRates = this.#rates.map((rate) => rateAt(rate, globalStep)) } = options;
    if (learningRates.length !== this.sliceSize) throw new Error('there is not one rate per segment');
    const [unique, sums] = options.enableDedup === true ? this.#sum(ids, gradients) : [ids, gradients];
    this.#each(unique, sums, options, (row, gradient) => this.#step(row, gradient, learningRates, globalStep));
  }

  reinitialize(ids: IdArray): Int32Array {
    return Int32Array.from(ids, (id) => {
      const known = this.#rows.delete(signed(id));
      this.#upsert(signed(id));
      return Number(known);
    });
  }

  evict(nowSec: number): number {
    const { slotExpireTimes = [], defaultExpireTime = 36500 } = this.#config.slotExpireTimeConfig ?? {};
    const days = new Map(slotExpireTimes.map(({ slot = 0, expireTime = 0 }) => [slot, expireTime]));
    let removed = 0;
    for (const [id, { timeSec }] of this.#rows) {
      const limit = (days.get(slotOfFidV2(id)) ?? defaultExpireTime) * 86400;
      if (nowSec - timeSec >= limit && this.#rows.delete(id)) removed++;
    }
    return removed;
  }

  clear(): void {
    this.#rows.clear();
  }

  #upsert(id: bigint): Row {
    const known = this.#rows.get(id);
    if (known !== undefined) return known;
    const weights = new Float32Array(this.dim);
    const state = this.#segments.map(({ plan, initial, from }) => {
      weights.fill(initial, from, from + plan.dim);
      writeParameters(views, PARAMETERS, plan);
      initOptimizerState(views, plan.number, STATE, plan.dim, PARAMETERS);
      return views.u32.slice(STATE / 4, STATE / 4 + plan.stateFloats);
    });
    const row = { weights, state, timeSec: 0 };
    this.#rows.set(id, row);
    return row;
  }

  #each(
    ids: IdArray,
    values: Float32Array,
    { timeSec = 0 }: UpdateOptions,
    visit: (row: Row, value: Float32Array) => void,
  ): void {
    if (values.length !== ids.length * this.dim) throw new Error('the values do not fit the ids');
    ids.forEach((id: bigint, i: number) => {
      const row = this.#upsert(signed(id));
      row.timeSec = timeSec;
      visit(row, values.subarray(i * this.dim, (i + 1) * this.dim));
    });
  }

  #step({ weights, state }: Row, gradient: Float32Array, rates: ArrayLike<number>, globalStep: number): void {
    this.#segments.forEach(({ plan, from }, s) => {
      const { dim, number } = plan;
      writeParameters(views, PARAMETERS, plan);
      setStep(views, PARAMETERS, rates[s]!, BigInt(globalStep));
      views.f32.set(weights.subarray(from, from + dim), WEIGHTS / 4);
      views.f32.set(gradient.subarray(from, from + dim), GRADIENT / 4);
      views.u32.set(state[s]!, STATE / 4);
      const result = applyOptimizerF32(views, number, WEIGHTS, STATE, GRADIENT, dim, PARAMETERS);
      if (result !== 0) throw stepError(plan, result, BigInt(globalStep));
      weights.set(views.f32.subarray(WEIGHTS / 4, WEIGHTS / 4 + dim), from);
      state[s]!.set(views.u32.subarray(STATE / 4, STATE / 4 + plan.stateFloats));
    });
  }

  /** Sums per id, in order of appearance. */
  #sum(ids: IdArray, gradients: Float32Array): [BigInt64Array, Float32Array] {
    const sums = new Map<bigint, Float32Array>();
    ids.forEach((id: bigint, i: number) => {
      const gradient = gradients.subarray(i * this.dim, (i + 1) * this.dim);
      const sum = sums.get(signed(id));
      if (sum === undefined) sums.set(signed(id), gradient.slice());
      else for (let c = 0; c < this.dim; c++) sum[c] = sum[c]! + gradient[c]!;
    });
    return [BigInt64Array.from(sums.keys()), Float32Array.from([...sums.values()].flatMap((sum) => [...sum]))];
  }
}

const signed = (id: bigint): bigint => BigInt.asIntN(64, id);

if (PARAMETERS + PARAMETER_BLOCK_BYTES > WEIGHTS) throw new Error('the parameters run into the weights');
