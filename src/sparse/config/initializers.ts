/**
 * @file Initializers: what a new row's weights are.
 *
 * A random_uniform segment is filled in one of two ways. Ours draws by id, so that a row's first value does not depend
 * on who met it first; the reference draws from a stream per worker (`StreamInitializer`), whose numbers can only be
 * repeated on one fresh worker.
 */
import { checkNumber } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { MersenneTwister } from '../../base/random.js';
import { printMessage } from '../../io/message.js';
import { InitializerConfigMessage, type InitializerMessage } from './config-messages.js';

/** All a kernel needs to know of an initializer. */
export type InitializerPlan =
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'uniform'; readonly minval: number; readonly maxval: number };

export function planInitializer(config: InitializerMessage): InitializerPlan {
  const { zeros, ones, constants, randomUniform } = config;
  if (zeros !== undefined) return { kind: 'constant', value: 0 };
  if (ones !== undefined) return { kind: 'constant', value: 1 };
  if (constants !== undefined) return { kind: 'constant', value: constants.constant ?? 0 };
  if (randomUniform !== undefined) {
    return { kind: 'uniform', minval: randomUniform.minval ?? -0.05, maxval: randomUniform.maxval ?? 0.05 };
  }
  throw new MonolithError('ML_INITIALIZER', { config: printMessage(InitializerConfigMessage, config) });
}

/** Rows start from 0. */
export const ZerosInitializer = (): InitializerMessage => ({ zeros: {} });
/** Rows start from 1. */
export const OnesInitializer = (): InitializerMessage => ({ ones: {} });
/** Rows start from a value. */
export const ConstantsInitializer = (constant: number): InitializerMessage => ({
  constants: { constant: checkNumber('sparse.constant', 'constant', constant) },
});
/** Rows start from a hash of seed, id and column within [minval, maxval). */
export function RandomUniformInitializer(minval?: number, maxval?: number): InitializerMessage {
  const bounds = Object.entries({ minval, maxval }).filter(([, bound]) => bound !== undefined);
  for (const [name, bound] of bounds) checkNumber('sparse.uniform', name, bound);
  return { randomUniform: Object.fromEntries(bounds) };
}

/** First guess of the interval between two sightings of an id, for batch_softmax. */
export function BatchSoftmaxInitializer(initStepInterval: number): InitializerMessage {
  if (!(initStepInterval >= 1)) throw new MonolithError('ML_STEP_INTERVAL', { interval: initStepInterval });
  return ConstantsInitializer(initStepInterval);
}

/** The reference's stream: one generator, never seeded again, for all tables of a worker. */
export class StreamInitializer {
  readonly #generator: MersenneTwister;

  constructor(seed = 5489) {
    this.#generator = new MersenneTwister(seed);
  }

  fill(plan: InitializerPlan, weights: Float32Array): void {
    if (plan.kind === 'constant') {
      weights.fill(plan.value);
      return;
    }
    const f = Math.fround;
    const minval = f(plan.minval);
    const range = f(f(plan.maxval) - minval);
    for (let i = 0; i < weights.length; i++) {
      // A word near 2^32 rounds up to 1 as a float; the largest float below 1 stands for it.
      const x = Math.min(f(this.#generator.nextU32()) / 2 ** 32, f(0.99999994));
      weights[i] = f(x * range) + minval;
    }
  }
}
