/**
 * @file Constructors of optimizer and compressor configs under upstream's names (native_training/entry.py).
 *
 * What is not given stays unset and takes the default of the message, except where upstream's constructor sets it.
 *
 * ```ts
 * AdamOptimizer({ learningRate: 0.01, useNesterov: true }); // { adam: { learningRate: 0.01, useNesterov: true } }
 * ```
 */
import type { MessageValue } from '../../io/message.js';
import type { FloatCompressorMessage, OPTIMIZER_MESSAGES, OptimizerMessage } from './config-messages.js';

type Options<K extends keyof typeof OPTIMIZER_MESSAGES> = Omit<MessageValue<(typeof OPTIMIZER_MESSAGES)[K]>, 'dimSize'>;

interface RegularizationOptions {
  readonly l1Regularization?: number;
  readonly l2Regularization?: number;
}

/** Upstream's constructors call the strengths by shorter names than the message. */
function strengths<T extends RegularizationOptions>(options: T) {
  const { l1Regularization, l2Regularization, ...rest } = options;
  return {
    ...rest,
    ...(l1Regularization === undefined ? {} : { l1RegularizationStrength: l1Regularization }),
    ...(l2Regularization === undefined ? {} : { l2RegularizationStrength: l2Regularization }),
  };
}

export const AdagradOptimizer = (options: Options<'adagrad'> = {}): OptimizerMessage => ({ adagrad: options });
export const SgdOptimizer = (options: Options<'sgd'> = {}): OptimizerMessage => ({ sgd: options });
export const FtrlOptimizer = (options: Options<'ftrl'> & RegularizationOptions = {}): OptimizerMessage => ({
  ftrl: strengths(options),
});
/** Unlike the message, the constructor turns dynamic decay on, which cannot run: say `enableDynamicWd: false`. */
export const DynamicWdAdagradOptimizer = (options: Options<'dynamicWdAdagrad'> = {}): OptimizerMessage => ({
  dynamicWdAdagrad: { decoupleWeightDecay: true, enableDynamicWd: true, flipDirection: true, ...options },
});
export const AdadeltaOptimizer = (options: Options<'adadelta'> = {}): OptimizerMessage => ({ adadelta: options });
export const AdamOptimizer = (options: Options<'adam'> = {}): OptimizerMessage => ({ adam: options });
export const AmsgradOptimizer = (options: Options<'amsgrad'> = {}): OptimizerMessage => ({ amsgrad: options });
export const MomentumOptimizer = (options: Options<'momentum'> = {}): OptimizerMessage => ({ momentum: options });
export const MovingAverageOptimizer = (options: Options<'movingAverage'> = {}): OptimizerMessage => ({
  movingAverage: options,
});
export const RmspropOptimizer = (options: Options<'rmsprop'> = {}): OptimizerMessage => ({ rmsprop: options });
export const RmspropV2Optimizer = (options: Options<'rmspropv2'> = {}): OptimizerMessage => ({ rmspropv2: options });
export const FTRLWithGroupSparsityOptimizer = (
  options: Options<'groupFtrl'> & RegularizationOptions = {},
): OptimizerMessage => ({ groupFtrl: strengths(options) });
export const BatchSoftmaxOptimizer = (options: Options<'batchSoftmax'> = {}): OptimizerMessage => ({
  batchSoftmax: options,
});
export const AdaGradWithGroupLassoOptimizer = (
  options: Options<'groupAdagrad'> & Pick<RegularizationOptions, 'l2Regularization'> = {},
): OptimizerMessage => ({ groupAdagrad: strengths(options) });

/** The same optimizer with its weights rounded to half precision after each step. */
export const withStochasticRounding = (optimizer: OptimizerMessage): OptimizerMessage => ({
  ...optimizer,
  stochasticRoundingFloat16: true,
});

export const Fp32Compressor = (): FloatCompressorMessage => ({ fp32: {} });
export const Fp16Compressor = (): FloatCompressorMessage => ({ fp16: {} });
export const FixedR8Compressor = (fixedRange = 1): FloatCompressorMessage => ({ fixedR8: { r: fixedRange } });
export const OneBitCompressor = (stepSize = 200, amplitude = 0.05): FloatCompressorMessage => ({
  oneBit: { stepSize, amplitude },
});
