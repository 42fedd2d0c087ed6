/**
 * @file ctr-ref: click data in the shape of Criteo's, made from a seed, for comparing whole trainings between systems.
 *
 * Twenty-six ids and thirteen numbers per example. The labels follow a hidden model: a weight per id, linear and
 * quadratic terms of the numbers, and five products of latent vectors of six slots, the pairs of upstream's
 * TestFFMModel. Weights are hashes of the ids, so that nothing is stored. Within a slot the popularity of ids is
 * Zipf's, exponent 1. An example depends on the seed and on its place only: shorter data is the beginning of longer
 * data.
 */

/** Ids per slot: Criteo-Kaggle's, those above 20,000 scaled so that all are 5,000,000 together. */
export const CARDINALITIES = [
  1460, 583, 1488234, 323552, 305, 24, 12517, 633, 3, 13682, 5683, 1226809, 3194, 27, 14992, 802240, 10, 5652, 2173, 4,
  1035104, 18, 15, 42038, 105, 20943,
] as const;
export const CATEGORIES = CARDINALITIES.length;
export const DENSE = 13;
export const VOCABULARY = CARDINALITIES.reduce((sum: number, ids) => sum + ids, 0);

/** Slots, from 0, that play slots 0 to 5 of upstream's TestFFMModel, and its pairs. */
export const FFM_SLOTS = [14, 3, 23, 9, 25, 6] as const;
export const FFM_PAIRS = [
  [0, 3],
  [0, 4],
  [1, 5],
  [2, 3],
  [2, 5],
] as const;

/** Seed of the data that results are published for, and its sizes. Test data has the next seed. */
export const REFERENCE = { seed: 20220916, train: 409_600, test: 65_536 } as const;

export interface CtrData {
  readonly count: number;
  readonly seed: number;
  /** 0 or 1. */
  readonly labels: Float32Array<ArrayBuffer>;
  /** [count, 13]. */
  readonly dense: Float32Array<ArrayBuffer>;
  /** [count, 26]: slot (from 1) in bits 48 and up, a hash of the id below. */
  readonly ids: BigInt64Array<ArrayBuffer>;
  /**
   * [count, 26]: the same ids as rows of a table, all over it. For systems that have no table of ids, a gift to them.
   */
  readonly rows: Uint32Array<ArrayBuffer>;
  /** What the hidden model says, which no trained model can beat. */
  readonly logits: Float32Array<ArrayBuffer>;
}

const LATENT_DIM = 4;
const FIRST_OF_SLOT = CARDINALITIES.map((_, slot) =>
  CARDINALITIES.slice(0, slot).reduce((sum: number, ids) => sum + ids, 0),
);
const LOG_CARDINALITY = CARDINALITIES.map((ids) => Math.log(ids + 1));
/** Prime to the vocabulary, so that ids and rows are one to one. */
const ROW_STEP = 3141593;

export function generateCtr(count: number, seed: number): CtrData {
  const random = smallFastCounter(seed);
  const data = {
    count,
    seed,
    labels: new Float32Array(count),
    dense: new Float32Array(count * DENSE),
    ids: new BigInt64Array(count * CATEGORIES),
    rows: new Uint32Array(count * CATEGORIES),
    logits: new Float32Array(count),
  };
  const words = new Uint32Array(data.ids.buffer);
  const chosen = new Uint32Array(CATEGORIES);
  for (let i = 0; i < count; i++) {
    let logit = -1.55;
    for (let slot = 0; slot < CATEGORIES; slot++) {
      const id = drawId(slot, random);
      const at = i * CATEGORIES + slot;
      chosen[slot] = id;
      data.rows[at] = (id * ROW_STEP) % VOCABULARY;
      // The low word is a bijection of the id, so that ids never collide.
      words[2 * at] = finalMix((id + 0x51ed270b) | 0);
      words[2 * at + 1] = ((slot + 1) << 16) | (finalMix(id ^ 0x2545f491) & 0xffff);
      logit += 0.32 * gaussOf(id, 0x1b873593);
    }
    logit = addPairs(logit, chosen);
    logit = addDense(logit, data.dense.subarray(i * DENSE, (i + 1) * DENSE), random);
    data.logits[i] = logit;
    data.labels[i] = random() / 2 ** 32 < 1 / (1 + Math.exp(-logit)) ? 1 : 0;
  }
  return data;
}

/** An id, counted over all slots; its rank within the slot is log-uniform. */
function drawId(slot: number, random: () => number): number {
  const rank = Math.floor(Math.exp((random() / 2 ** 32) * LOG_CARDINALITY[slot]!)) - 1;
  return FIRST_OF_SLOT[slot]! + Math.min(CARDINALITIES[slot]! - 1, rank);
}

const latent = FFM_SLOTS.map(() => new Float64Array(LATENT_DIM));

function addPairs(start: number, chosen: Uint32Array): number {
  FFM_SLOTS.forEach((slot, i) => {
    for (let d = 0; d < LATENT_DIM; d++) latent[i]![d] = gaussOf(chosen[slot]!, (0x3c6ef372 + d * 0x01000193) | 0);
  });
  let logit = start;
  for (const [a, b] of FFM_PAIRS) {
    const [u, v] = [latent[a]!, latent[b]!];
    logit += 0.25 * (u[0]! * v[0]! + u[1]! * v[1]! + u[2]! * v[2]! + u[3]! * v[3]!);
  }
  return logit;
}

/** Draws the numbers of an example, three decimals each, and adds their terms. */
function addDense(start: number, out: Float32Array, random: () => number): number {
  const x = new Float64Array(DENSE);
  let logit = start;
  for (let j = 0; j < DENSE; j++) {
    x[j] = Math.round(sumOfUniforms(random(), random()) / 37.8372) / 1000;
    out[j] = x[j]!;
    logit += x[j]! * (j % 2 === 0 ? 0.12 : -0.12);
  }
  return logit + (0.35 * x[0]! * x[1]! + 0.35 * Math.abs(x[2]!) - 0.28);
}

/** Four 16-bit uniforms about 0: near enough to a normal distribution. */
function sumOfUniforms(a: number, b: number): number {
  return (a & 0xffff) + (a >>> 16) + (b & 0xffff) + (b >>> 16) - 131070;
}

/** A number of about the standard normal distribution that belongs to (id, salt). */
function gaussOf(id: number, salt: number): number {
  const first = finalMix(id ^ salt);
  return sumOfUniforms(first, finalMix((first + 0x9e3779b9) | 0)) / 37837.2;
}

/** The last rounds of MurmurHash3 for 32 bits; a bijection. */
function finalMix(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Words of the generator sfc32. */
function smallFastCounter(seed: number): () => number {
  let [a, b, c, counter] = [seed | 0, 0x9e3779b9 | 0, 0x243f6a88, 0xb7e15162 | 0];
  const next = () => {
    const word = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + word) | 0;
    return word >>> 0;
  };
  for (let i = 0; i < 32; i++) next();
  return next;
}
