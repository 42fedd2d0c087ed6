/**
 * @file Constructors of optimizer and compressor configs under upstream's names (native_training/entry.py).
 *
 * What is not given stays unset and takes the default of the message, except where upstream's constructor sets it.
 *
 * ```ts
 * AdamOptimizer({ learningRate: 0.01, useNesterov: true }); // { adam: { learningRate: 0.01, useNesterov: true } }
 * ```
 */
import { checkKeys, checkNumber, notA } from '../../base/check-options.js';
import type { Fields, MessageValue } from '../../io/message.js';
import { type FloatCompressorMessage, OPTIMIZER_MESSAGES, type OptimizerMessage } from './config-messages.js';

type Name = keyof typeof OPTIMIZER_MESSAGES;
type Options<K extends Name> = Omit<MessageValue<(typeof OPTIMIZER_MESSAGES)[K]>, 'dimSize'>;

interface RegularizationOptions {
  readonly l1Regularization?: number;
  readonly l2Regularization?: number;
}

/** Upstream's constructors call the strengths by shorter names than the message. */
const STRENGTHS = {
  l1Regularization: 'l1RegularizationStrength',
  l2Regularization: 'l2RegularizationStrength',
} as const;

/** The message of options that are fields of it, or strengths by their shorter names; ML_OPTION for any other. */
function made<K extends Name>(where: string, name: K, options: Options<K> & RegularizationOptions): OptimizerMessage {
  const { dimSize: _, ...fields } = OPTIMIZER_MESSAGES[name].fields as Fields;
  const shorter = Object.entries(STRENGTHS).filter(([, field]) => field in fields);
  checkKeys(where, options, [...shorter.map(([short]) => short), ...Object.keys(fields)]);
  const full = new Map<string, string>(shorter);
  const given = Object.entries(options).map(([option, value]) => [full.get(option) ?? option, value] as const);
  for (const [field, value] of given) {
    const { fallback } = fields[field]!;
    if (value === undefined) continue;
    if (typeof value !== typeof fallback) throw notA(typeof fallback, where, field, value);
    if (typeof value === 'number') checkNumber(where, field, value);
  }
  return { [name]: Object.fromEntries(given.filter(([, value]) => value !== undefined)) };
}

/** Steps of a row divided by the root of the sum of its squared gradients. */
export const AdagradOptimizer = (options: Options<'adagrad'> = {}) => made('sparse.adagrad', 'adagrad', options);
/** Plain gradient descent, w -= lr * g. */
export const SgdOptimizer = (options: Options<'sgd'> = {}) => made('sparse.sgd', 'sgd', options);
/** Follow the regularized leader with upstream's own l1. */
export const FtrlOptimizer = (options: Options<'ftrl'> & RegularizationOptions = {}) =>
  made('sparse.ftrl', 'ftrl', options);
/** Unlike the message, the constructor turns dynamic decay on, which cannot run: say `enableDynamicWd: false`. */
export const DynamicWdAdagradOptimizer = (options: Options<'dynamicWdAdagrad'> = {}) =>
  made('sparse.dynamicWdAdagrad', 'dynamicWdAdagrad', {
    decoupleWeightDecay: true,
    enableDynamicWd: true,
    flipDirection: true,
    ...options,
  });
/** Steps in proportion to the size of earlier ones. */
export const AdadeltaOptimizer = (options: Options<'adadelta'> = {}) => made('sparse.adadelta', 'adadelta', options);
/** Adam on a row, with powers of its own. */
export const AdamOptimizer = (options: Options<'adam'> = {}) => made('sparse.adam', 'adam', options);
/** Adam whose second moment never falls. */
export const AmsgradOptimizer = (options: Options<'amsgrad'> = {}) => made('sparse.amsgrad', 'amsgrad', options);
/** Steps along a decaying sum of gradients, plain or Nesterov's. */
export const MomentumOptimizer = (options: Options<'momentum'> = {}) => made('sparse.momentum', 'momentum', options);
/** Moves weights towards what is fed, by `momentum`. */
export const MovingAverageOptimizer = (options: Options<'movingAverage'> = {}) =>
  made('sparse.movingAverage', 'movingAverage', options);
/** Divides by the root of a mean of squared gradients. */
export const RmspropOptimizer = (options: Options<'rmsprop'> = {}) => made('sparse.rmsprop', 'rmsprop', options);
/** Rmsprop in which the square of a gradient counts in full. */
export const RmspropV2Optimizer = (options: Options<'rmspropv2'> = {}) =>
  made('sparse.rmspropV2', 'rmspropv2', options);
/** Ftrl in which a row becomes zero as a whole. */
export const FTRLWithGroupSparsityOptimizer = (options: Options<'groupFtrl'> & RegularizationOptions = {}) =>
  made('sparse.ftrlWithGroupSparsity', 'groupFtrl', options);
/** Learns the steps between sightings of an id. */
export const BatchSoftmaxOptimizer = (options: Options<'batchSoftmax'> = {}) =>
  made('sparse.batchSoftmax', 'batchSoftmax', options);
/** Adagrad with one sum for a row, and a penalty of its length. */
export const AdaGradWithGroupLassoOptimizer = (
  options: Options<'groupAdagrad'> & Pick<RegularizationOptions, 'l2Regularization'> = {},
) => made('sparse.adagradWithGroupLasso', 'groupAdagrad', options);

/** The same optimizer with its weights rounded to half precision after each step. */
export const withStochasticRounding = (optimizer: OptimizerMessage): OptimizerMessage => ({
  ...optimizer,
  stochasticRoundingFloat16: true,
});

/** Serving keeps weights as they are. */
export const Fp32Compressor = (): FloatCompressorMessage => ({ fp32: {} });
/** Serving keeps half-precision weights. */
export const Fp16Compressor = (): FloatCompressorMessage => ({ fp16: {} });
/** Serving keeps a byte for a weight in ±range. */
export const FixedR8Compressor = (fixedRange = 1): FloatCompressorMessage => ({
  fixedR8: { r: checkNumber('sparse.fixedR8', 'fixedRange', fixedRange) },
});
/** Serving keeps the sign of a weight. */
export const OneBitCompressor = (stepSize = 200, amplitude = 0.05): FloatCompressorMessage => ({
  oneBit: {
    stepSize: checkNumber('sparse.oneBit', 'stepSize', stepSize),
    amplitude: checkNumber('sparse.oneBit', 'amplitude', amplitude),
  },
});
