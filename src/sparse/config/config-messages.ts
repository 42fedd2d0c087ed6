/**
 * @file Config messages of embedding tables: EmbeddingHashTableConfig and all it is made of (proto2).
 *
 * Defaults are those of the messages; the constructors of optimizers.ts and entry.ts have some of their own, as
 * upstream.
 */
import { bool, enumeration, float, int, type MessageValue, many, message, string, sub } from '../../io/message.js';

const dimSize = int(1);
const learning = (rate: number) => ({ dimSize, learningRate: float(2, rate) });
const adagrad = {
  ...learning(0.001),
  initialAccumulatorValue: float(3, 0.1),
  hessianCompressionTimes: int(4, 1),
  weightDecayFactor: float(5),
  warmupSteps: int(6),
};
const amsgrad = {
  ...learning(0.01),
  beta1: float(3, 0.9),
  beta2: float(4, 0.99),
  weightDecayFactor: float(6),
  useNesterov: bool(7),
  epsilon: float(8, 0.01),
  warmupSteps: int(9),
};
const rmsprop = { ...learning(0.01), weightDecayFactor: float(3), momentum: float(4, 0.9) };
const ftrl = (beta: number, initial: number) => ({
  ...learning(0.01),
  beta: float(3, beta),
  initialAccumulatorValue: float(4, initial),
  l1RegularizationStrength: float(5),
  l2RegularizationStrength: float(6),
  warmupSteps: int(7),
});

/** One message per optimizer, by the name of its member of OptimizerConfig. */
export const OPTIMIZER_MESSAGES = {
  adagrad: message('AdagradOptimizerConfig', adagrad),
  sgd: message('SgdOptimizerConfig', { ...learning(0.01), warmupSteps: int(6) }),
  ftrl: message('FtrlOptimizerConfig', ftrl(0, 0.1)),
  dynamicWdAdagrad: message('DynamicWdAdagradOptimizerConfig', {
    ...adagrad,
    decoupleWeightDecay: bool(7),
    enableDynamicWd: bool(8),
    dynamicWdTemperature: float(9, 1),
    flipDirection: bool(10),
  }),
  adadelta: message('AdadeltaOptimizerConfig', {
    ...learning(0.01),
    weightDecayFactor: float(3),
    averagingRatio: float(4, 0.9),
    epsilon: float(5, 0.01),
    warmupSteps: int(7),
  }),
  adam: message('AdamOptimizerConfig', { ...amsgrad, useBeta1Warmup: bool(5) }),
  amsgrad: message('AmsgradOptimizerConfig', amsgrad),
  momentum: message('MomentumOptimizerConfig', {
    ...learning(0.01),
    weightDecayFactor: float(3),
    useNesterov: bool(4),
    momentum: float(5, 0.9),
    warmupSteps: int(6),
  }),
  movingAverage: message('MovingAverageOptimizerConfig', { dimSize, momentum: float(2, 0.9) }),
  rmsprop: message('RmspropOptimizerConfig', rmsprop),
  rmspropv2: message('RmspropV2OptimizerConfig', rmsprop),
  dc: message('DcOptimizerConfig', { dimSize, lambda_: float(2) }),
  groupFtrl: message('GroupFtrlOptimizerConfig', ftrl(1, 0)),
  batchSoftmax: message('BatchSoftmaxOptimizerConfig', learning(0.1)),
  groupAdagrad: message('GroupAdaGradOptimizerConfig', {
    ...learning(0.01),
    beta: float(3),
    initialAccumulatorValue: float(4, 0.1),
    l2RegularizationStrength: float(5),
    weightDecayFactor: float(6),
    warmupSteps: int(7),
  }),
} as const;

/** Names of the members of the oneof. */
export type OptimizerName = keyof typeof OPTIMIZER_MESSAGES;
const M = OPTIMIZER_MESSAGES;

export const OptimizerConfigMessage = message('OptimizerConfig', {
  adagrad: sub(1, M.adagrad),
  sgd: sub(2, M.sgd),
  ftrl: sub(3, M.ftrl),
  stochasticRoundingFloat16: bool(4),
  dynamicWdAdagrad: sub(5, M.dynamicWdAdagrad),
  adadelta: sub(6, M.adadelta),
  adam: sub(7, M.adam),
  amsgrad: sub(8, M.amsgrad),
  momentum: sub(9, M.momentum),
  movingAverage: sub(10, M.movingAverage),
  rmsprop: sub(11, M.rmsprop),
  rmspropv2: sub(12, M.rmspropv2),
  dc: sub(13, M.dc),
  groupFtrl: sub(14, M.groupFtrl),
  batchSoftmax: sub(15, M.batchSoftmax),
  groupAdagrad: sub(16, M.groupAdagrad),
});
/** At most one optimizer is set. */
export type OptimizerMessage = MessageValue<typeof OptimizerConfigMessage>;

const justDim = { dimSize };
export const InitializerConfigMessage = message('InitializerConfig', {
  zeros: sub(1, message('ZerosInitializerConfig', justDim)),
  randomUniform: sub(
    2,
    message('RandomUniformInitializerConfig', { dimSize, minval: float(2, -0.05), maxval: float(3, 0.05) }),
  ),
  ones: sub(3, message('OnesInitializerConfig', justDim)),
  constants: sub(15, message('ConstantsInitializerConfig', { dimSize, constant: float(2) })),
});
export type InitializerMessage = MessageValue<typeof InitializerConfigMessage>;

export const OneBitMessage = message('OneBit', {
  dimSize,
  stepSize: int(2, 200),
  initScale: float(3, 1),
  maxScale: float(4, 10000),
  amplitude: float(5, 0.1),
});
export const FloatCompressorConfigMessage = message('FloatCompressorConfig', {
  fp32: sub(1, message('Fp32', justDim)),
  fp16: sub(2, message('Fp16', justDim)),
  fixedR8: sub(3, message('FixedR8', { dimSize, r: float(2, 1) })),
  oneBit: sub(4, OneBitMessage),
});
export type FloatCompressorMessage = MessageValue<typeof FloatCompressorConfigMessage>;

export const SegmentMessage = message('Segment', {
  initConfig: sub(1, InitializerConfigMessage),
  optConfig: sub(2, OptimizerConfigMessage),
  compConfig: sub(3, FloatCompressorConfigMessage),
  dimSize: int(7),
});
export type Segment = MessageValue<typeof SegmentMessage>;

export const ENTRY_TYPE = { unknown: 0, training: 1, serving: 2 } as const;
export const EntryConfigMessage = message('EntryConfig', {
  segments: many(sub(1, SegmentMessage)),
  entryType: enumeration(2, { 0: 'UNKNOWN', 1: 'TRAINING', 2: 'SERVING' }, ENTRY_TYPE.training),
});
export type EntryConfig = MessageValue<typeof EntryConfigMessage>;

export const SlotExpireTimeConfigMessage = message('SlotExpireTimeConfig', {
  slotExpireTimes: many(sub(1, message('SlotExpireTime', { slot: int(1), expireTime: int(2) }))),
  defaultExpireTime: int(2, 36500),
});
export type SlotExpireTimeConfig = MessageValue<typeof SlotExpireTimeConfigMessage>;

export const SlotOccurrenceThresholdConfigMessage = message('SlotOccurrenceThresholdConfig', {
  slotOccurrenceThresholds: many(
    sub(1, message('SlotOccurrenceThreshold', { slot: int(1), occurrenceThreshold: int(2) })),
  ),
  defaultOccurrenceThreshold: int(2),
});
export type SlotOccurrenceThresholdConfig = MessageValue<typeof SlotOccurrenceThresholdConfigMessage>;

export const STORAGE_TYPE = { packed: 1, raw: 2 } as const;
export const EmbeddingHashTableConfigMessage = message('EmbeddingHashTableConfig', {
  entryConfig: sub(1, EntryConfigMessage),
  initialCapacity: int(2, 1),
  slotExpireTimeConfig: sub(3, SlotExpireTimeConfigMessage),
  cuckoo: sub(5, message('CuckooEmbeddingHashTableConfig', {})),
  entryType: enumeration(6, { 1: 'PACKED', 2: 'RAW' }, STORAGE_TYPE.packed),
  enableFeatureEviction: bool(7),
  featureEvictEveryNHours: int(8, 240),
  skipZeroEmbedding: bool(10),
});
export type EmbeddingHashTableConfig = MessageValue<typeof EmbeddingHashTableConfigMessage>;

export const MultiEmbeddingHashTableConfigMessage = message('MultiEmbeddingHashTableConfig', {
  names: many(string(1)),
  configs: many(sub(2, EmbeddingHashTableConfigMessage)),
});
export type MultiEmbeddingHashTableConfig = MessageValue<typeof MultiEmbeddingHashTableConfigMessage>;

export const MultiHashTableMetadataMessage = message('MultiHashTableMetadata', {
  tableName: string(1),
  numEntries: int(2),
});
export type MultiHashTableMetadata = MessageValue<typeof MultiHashTableMetadataMessage>;
