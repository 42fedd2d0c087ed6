/**
 * @file What the rows of a table are told: how they start, how they are stepped, how they are kept. `sparse` of the
 * package.
 *
 * ```ts
 * const segment = { dim: 8, initializer: sparse.uniform(-0.1, 0.1), optimizer: sparse.adagrad({ learningRate: 0.1 }) };
 * ```
 */
export type { FloatCompressorMessage, InitializerMessage, OptimizerMessage } from '../sparse/config/config-messages.js';
export {
  BatchSoftmaxInitializer as batchSoftmaxInitializer,
  ConstantsInitializer as constant,
  OnesInitializer as ones,
  RandomUniformInitializer as uniform,
  ZerosInitializer as zeros,
} from '../sparse/config/initializers.js';
export {
  AdadeltaOptimizer as adadelta,
  AdaGradWithGroupLassoOptimizer as adagradWithGroupLasso,
  AdagradOptimizer as adagrad,
  AdamOptimizer as adam,
  AmsgradOptimizer as amsgrad,
  BatchSoftmaxOptimizer as batchSoftmax,
  DynamicWdAdagradOptimizer as dynamicWdAdagrad,
  FixedR8Compressor as fixedR8,
  Fp16Compressor as fp16,
  Fp32Compressor as fp32,
  FTRLWithGroupSparsityOptimizer as ftrlWithGroupSparsity,
  FtrlOptimizer as ftrl,
  MomentumOptimizer as momentum,
  MovingAverageOptimizer as movingAverage,
  OneBitCompressor as oneBit,
  RmspropOptimizer as rmsprop,
  RmspropV2Optimizer as rmspropV2,
  SgdOptimizer as sgd,
  withStochasticRounding,
} from '../sparse/config/optimizers.js';
