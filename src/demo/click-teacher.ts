/**
 * @file The hidden model that decides who clicks in the 'clicks' demo data.
 *
 * It has the form of the demo model: per-id biases of slots 0 to 3 plus dot products over the same five slot pairs, so
 * that the demo model can learn it. Weights are hashes of (seed, id): any vocabulary works, nothing is stored, and no
 * random stream is touched.
 */
import { hashU32, hashUniform, MersenneTwister } from '../base/random.js';
import { FFM_BIAS_SLOT_COUNT, FFM_PAIRS, type FfmExample, generateFfmExample } from './ffm-example.js';

const LATENT_COUNT = 4;
/** Component of a hash that is a bias; latent components count from 0. */
const BIAS_COMPONENT = 0xffff;

/**
 * Share of the logit's variance that comes from the biases. They are learnt within a few passes; the dot products, by
 * plain gradient descent on a batch mean, much later.
 */
const BIAS_SHARE = 0.75;
/** Spread and centre of the logit: a Bayes AUC near 0.85 with about a third of clicks. */
const LOGIT_DEVIATION = 1.8;
const LOGIT_MEAN = -1;
const CALIBRATION_COUNT = 2048;
const CALIBRATION_STREAM = 0x5bd1e995;

interface Moments {
  readonly mean: number;
  readonly deviation: number;
}

export class ClickTeacher {
  readonly #seed: number;
  readonly #id = new BigInt64Array(1);
  readonly #halves = new Uint32Array(this.#id.buffer);
  readonly #biases: Moments;
  readonly #products: Moments;

  /** Draws a sample of its own from the same vocabularies to bring the logit to its spread and centre. */
  constructor(seed: number, vocabSizes: readonly number[]) {
    this.#seed = seed;
    const random = new MersenneTwister(seed ^ CALIBRATION_STREAM);
    const sample = Array.from({ length: CALIBRATION_COUNT }, () =>
      this.#hashes(generateFfmExample(random, vocabSizes).ids),
    );
    this.#biases = momentsOf(sample.map(biasSum));
    this.#products = momentsOf(sample.map(productSum));
  }

  logit(ids: FfmExample['ids']): number {
    const hashes = this.#hashes(ids);
    const bias = (biasSum(hashes) - this.#biases.mean) / this.#biases.deviation;
    const product = (productSum(hashes) - this.#products.mean) / this.#products.deviation;
    return LOGIT_MEAN + LOGIT_DEVIATION * (Math.sqrt(BIAS_SHARE) * bias + Math.sqrt(1 - BIAS_SHARE) * product);
  }

  /**
   * 1 with the probability the logit says. `streamSeed` and `index` name the draw, so it is the same whenever asked.
   */
  label(ids: FfmExample['ids'], streamSeed: number, index: number): number {
    return hashUniform(this.#seed, streamSeed, index, 1) * (1 + Math.exp(-this.logit(ids))) < 1 ? 1 : 0;
  }

  /** The ids hashed once, for all of their weights are hashes of that. */
  #hashes(ids: FfmExample['ids']): Uint32Array[] {
    return ids.map((list) => {
      const hashes = new Uint32Array(list.length);
      for (let i = 0; i < list.length; i++) {
        this.#id[0] = list[i]!;
        hashes[i] = hashU32(this.#seed, this.#halves[0]!, this.#halves[1]!);
      }
      return hashes;
    });
  }
}

function biasSum(hashes: readonly Uint32Array[]): number {
  let sum = 0;
  for (let slot = 0; slot < FFM_BIAS_SLOT_COUNT; slot++) sum += weightSum(hashes[slot]!, BIAS_COMPONENT);
  return sum;
}

function productSum(hashes: readonly Uint32Array[]): number {
  let sum = 0;
  for (let pair = 0; pair < FFM_PAIRS.length; pair++) {
    const [user, item] = FFM_PAIRS[pair]!;
    for (let component = pair * LATENT_COUNT; component < (pair + 1) * LATENT_COUNT; component++) {
      sum += weightSum(hashes[user]!, component) * weightSum(hashes[item]!, component);
    }
  }
  return sum;
}

/** Sum of one component over the ids; a single weight is uniform in [-1, 1). */
function weightSum(hashes: Uint32Array, component: number): number {
  let sum = 0;
  for (let i = 0; i < hashes.length; i++) sum += hashU32(hashes[i]!, component) / 0x80000000 - 1;
  return sum;
}

function momentsOf(values: readonly number[]): Moments {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, deviation: Math.sqrt(variance) || 1 };
}
