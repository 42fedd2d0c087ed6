/**
 * @file A table config made ready to run: where each segment lies in a row, and what its parts are as numbers.
 *
 * All checks of a config happen here, once per config, before any memory is taken.
 */
import { MonolithError } from '../../base/errors.js';
import type { Rate } from '../../base/rates/rate.js';
import { checkRateCount } from '../../base/rates/segment-rates.js';
import { printMessage, valueOr } from '../../io/message.js';
import type { DumpSegment } from '../../io/optimizer-dump.js';
import { ROW_DIM_MAX } from '../../memory/limits.js';
import {
  ENTRY_TYPE,
  EntryConfigMessage,
  FloatCompressorConfigMessage,
  type FloatCompressorMessage,
  OneBitMessage,
  type Segment,
} from './config-messages.js';
import { type InitializerPlan, planInitializer, ZerosInitializer } from './initializers.js';
import { type OptimizerPlan, planOptimizer } from './optimizer-plan.js';
import { SgdOptimizer } from './optimizers.js';
import type { HashTableConfigInstance, TableConfig } from './table-config.js';
import { checkPartDims, checkTableConfig } from './table-messages.js';

/** How serving keeps a segment, and what of that a lookup shows while training. */
export interface CompressorPlan {
  readonly kind: 'fp32' | 'fp16' | 'fixedR8' | 'oneBit';
  readonly bytes: number;
  /** Range of fixed_r8. */
  readonly r: number;
  readonly amplitude: number;
  readonly initScale: number;
  readonly maxScale: number;
  readonly stepSize: number;
}

export interface SegmentPlan {
  readonly dim: number;
  /** Floats before this segment among the weights, and among the state. */
  readonly weightOffset: number;
  readonly stateOffset: number;
  /** Bytes before this segment in a serving row. */
  readonly byteOffset: number;
  readonly initializer: InitializerPlan;
  readonly optimizer: OptimizerPlan;
  readonly compressor: CompressorPlan;
  readonly rate: Rate;
}

export interface TablePlan {
  readonly serving: boolean;
  /** A training table whose lookups show the weights as they are. */
  readonly plain: boolean;
  readonly dim: number;
  readonly stateFloats: number;
  /** Bytes of a row: weights and state, or what the compressors make of the weights. */
  readonly bodyBytes: number;
  readonly rowBytes: number;
  readonly segments: readonly SegmentPlan[];
  /** What rows look like in files. */
  readonly dump: readonly DumpSegment[];
  /** Something of a step depends on the global step: a rate, an optimizer, its rounding or a retriever. */
  readonly followsStep: boolean;
}

const plans = new WeakMap<HashTableConfigInstance, TablePlan>();

/** The plan of a config, made once. */
export function planTable({ name, instance }: TableConfig): TablePlan {
  if (instance === undefined) {
    const reason = 'a table is made from a name and an instance: defineTable gives both';
    throw new MonolithError('ML_GRAPH', { op: String(name), reason });
  }
  let plan = plans.get(instance);
  if (plan === undefined) {
    plan = makePlan(name, instance);
    plans.set(instance, plan);
  }
  return plan;
}

/** Weights in a row. */
export function tableDim(config: TableConfig): number {
  return planTable(config).dim;
}

function makePlan(
  name: string,
  { tableConfig, segments: messages, learningRateFns }: HashTableConfigInstance,
): TablePlan {
  checkTableConfig(tableConfig);
  const serving = valueOr(EntryConfigMessage, tableConfig.entryConfig ?? {}, 'entryType') === ENTRY_TYPE.serving;
  if (!serving) checkRateCount(learningRateFns, messages.length);
  const dims = messages.map(segmentDim);
  const dim = dims.reduce((sum, one) => sum + one, 0);
  if (!dims.every((one) => Number.isInteger(one) && one > 0) || dim < 1 || dim > ROW_DIM_MAX) {
    const reason = `its segments must have 1 to ${ROW_DIM_MAX} dimensions in all`;
    throw new MonolithError('ML_GRAPH', { op: name, reason });
  }
  const segments: SegmentPlan[] = [];
  let [weightOffset, stateOffset, byteOffset] = [0, 0, 0];
  messages.forEach((message, index) => {
    const one = dims[index]!;
    const optimizer = planOptimizer((serving ? undefined : message.optConfig) ?? SgdOptimizer(), one);
    const compressor = planCompressor(message.compConfig ?? { fp32: {} }, one);
    const initializer = planInitializer(message.initConfig ?? ZerosInitializer());
    const rate = learningRateFns[index] ?? 0;
    segments.push({ dim: one, weightOffset, stateOffset, byteOffset, initializer, optimizer, compressor, rate });
    weightOffset += one;
    stateOffset += optimizer.stateFloats;
    byteOffset += compressor.bytes;
  });
  const bodyBytes = serving ? byteOffset : (dim + stateOffset) * 4;
  return {
    serving,
    plain: !serving && segments.every(({ compressor: { kind } }) => kind === 'fp32' || kind === 'fp16'),
    dim,
    stateFloats: stateOffset,
    bodyBytes,
    rowBytes: Math.ceil(bodyBytes / 16) * 16,
    segments,
    dump: segments.map(({ dim: one, optimizer }) => ({ dim: one, optimizer: optimizer.name })),
    followsStep: segments.some(
      ({ rate, optimizer, compressor }) =>
        typeof rate !== 'number' ||
        optimizer.name === 'batchSoftmax' ||
        optimizer.roundsToHalf ||
        compressor.kind === 'oneBit',
    ),
  };
}

/** The dimension of a segment goes before those of its parts; without it they must agree. */
function segmentDim({ dimSize, initConfig = {}, optConfig = {}, compConfig }: Segment): number {
  if (dimSize !== undefined) return dimSize;
  const [initializer, optimizer] = [partDim(initConfig), partDim(optConfig)];
  const retriever = compConfig === undefined ? optimizer : partDim(compConfig);
  checkPartDims(initializer, optimizer, retriever);
  return initializer;
}

function partDim(part: Readonly<Record<string, unknown>>): number {
  const set = Object.values(part).find((one) => typeof one === 'object') as { dimSize?: number } | undefined;
  return set?.dimSize ?? 0;
}

function planCompressor(config: FloatCompressorMessage, dim: number): CompressorPlan {
  const one = (key: 'stepSize' | 'initScale' | 'maxScale' | 'amplitude') =>
    valueOr(OneBitMessage, config.oneBit ?? {}, key);
  const shared = {
    r: config.fixedR8?.r ?? 1,
    amplitude: one('amplitude'),
    initScale: one('initScale'),
    maxScale: one('maxScale'),
    stepSize: one('stepSize'),
  };
  if (config.fp32 !== undefined) return { kind: 'fp32', bytes: dim * 4, ...shared };
  if (config.fp16 !== undefined) return { kind: 'fp16', bytes: dim * 2, ...shared };
  if (config.fixedR8 !== undefined) return { kind: 'fixedR8', bytes: dim, ...shared };
  if (config.oneBit !== undefined && shared.stepSize >= 1) return { kind: 'oneBit', bytes: dim, ...shared };
  throw new MonolithError('ML_COMPRESSOR', { config: printMessage(FloatCompressorConfigMessage, config) });
}
