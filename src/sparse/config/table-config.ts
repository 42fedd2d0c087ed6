/**
 * @file What an embedding table is made of, as graphs, sessions and checkpoints know it: a name, a config message,
 * rates.
 *
 * Mirrors HashTableConfigInstance of native_training/hash_table_ops. `defineTable` is the short way to make one.
 */

import { checkChoice } from '../../base/check-choice.js';
import { checkOptions } from '../../base/check-options.js';
import type { Rate } from '../../base/rates/rate.js';
import { ratesAt, resolveRate } from '../../base/rates/segment-rates.js';
import type { Admission } from './admission.js';
import type { InitializerMessage, OptimizerMessage, Segment } from './config-messages.js';
import { type EmbeddingHashTableConfig, ENTRY_TYPE, type FloatCompressorMessage } from './config-messages.js';
import { RandomUniformInitializer, ZerosInitializer } from './initializers.js';
import { planOptimizer } from './optimizer-plan.js';
import { AdagradOptimizer, Fp32Compressor, SgdOptimizer, withStochasticRounding } from './optimizers.js';
import { printTable } from './table-messages.js';

/** A table config with the rates of its segments. Two that print equally make equal tables. */
export class HashTableConfigInstance {
  readonly tableConfig: EmbeddingHashTableConfig;
  /** One per segment, in order. */
  readonly learningRateFns: readonly Rate[];
  /** Names that older checkpoints may have the table under. */
  readonly extraRestoreNames: readonly string[];

  constructor(
    tableConfig: EmbeddingHashTableConfig,
    learningRateFns: readonly Rate[],
    options: { readonly extraRestoreNames?: readonly string[] } = {},
  ) {
    checkOptions('HashTableConfigInstance', options, ['extraRestoreNames']);
    this.tableConfig = tableConfig;
    this.learningRateFns = learningRateFns;
    this.extraRestoreNames = options.extraRestoreNames ?? [];
  }

  get segments(): readonly Segment[] {
    return this.tableConfig.entryConfig?.segments ?? [];
  }

  /** The rate of each segment when `globalStep` steps are done. */
  callLearningRateFns(globalStep: number): Float32Array {
    return ratesAt(this.learningRateFns, globalStep);
  }

  toString(): string {
    return printTable(this.tableConfig, this.learningRateFns);
  }
}

/** A table by its name. Use one object for all lookups of a table: a session keeps its tables by them. */
export interface TableConfig {
  readonly name: string;
  readonly instance: HashTableConfigInstance;
  /** Which ids get a row in a session. Default: all. */
  readonly admission?: Admission;
}

/** A run of columns with one purpose. What is left out takes the defaults of the messages. */
export interface SegmentOptions {
  readonly dim: number;
  readonly initializer?: InitializerMessage;
  readonly optimizer?: OptimizerMessage;
  /** How serving keeps the columns; fixed_r8 and one_bit also change what lookups show while training. */
  readonly compressor?: FloatCompressorMessage;
  /** Replaces the optimizer's own rate and warm-up. */
  readonly learningRate?: Rate;
}

export interface TableDefinition {
  /** Default: training. A serving table keeps compressed weights and nothing else. */
  readonly entryType?: keyof typeof ENTRY_TYPE;
  /** Days without an update after which an id of the slot may go. */
  readonly slotExpireTimes?: ReadonlyMap<number, number>;
  /** Days for all other slots. Default: 36500. */
  readonly defaultExpireTime?: number;
  /** Serving tables only: rows of zeros are not kept. */
  readonly skipZeroEmbedding?: boolean;
  /** How often a PeriodicEviction of the table is to evict; a table starts none by itself. */
  readonly featureEvictEveryNHours?: number;
  readonly extraRestoreNames?: readonly string[];
}

/**
 * A table of one or more segments.
 *
 * ```ts
 * const users = defineTable('users', [{ dim: 8, optimizer: AdagradOptimizer({ learningRate: 0.1 }) }]);
 * ```
 */
export function defineTable(
  name: string,
  segments: readonly SegmentOptions[],
  definition: TableDefinition = {},
): TableConfig {
  checkOptions('defineTable', definition, [
    'entryType',
    'slotExpireTimes',
    'defaultExpireTime',
    'skipZeroEmbedding',
    'featureEvictEveryNHours',
    'extraRestoreNames',
  ]);
  const rated = segments.map(ratedSegment);
  checkChoice('entryType', definition.entryType ?? 'training', Object.keys(ENTRY_TYPE));
  const tableConfig: EmbeddingHashTableConfig = {
    entryConfig: {
      segments: rated.map(({ segment }) => segment),
      ...(definition.entryType === undefined ? {} : { entryType: ENTRY_TYPE[definition.entryType] }),
    },
    ...expiryOf(definition),
    cuckoo: {},
    ...(definition.featureEvictEveryNHours === undefined
      ? {}
      : { enableFeatureEviction: true, featureEvictEveryNHours: definition.featureEvictEveryNHours }),
    ...(definition.skipZeroEmbedding === undefined ? {} : { skipZeroEmbedding: definition.skipZeroEmbedding }),
  };
  const rates = rated.map(({ rate }) => rate);
  const { extraRestoreNames = [] } = definition;
  return { name, instance: new HashTableConfigInstance(tableConfig, rates, { extraRestoreNames }) };
}

/** The message of a segment, and its rate. */
export function ratedSegment(options: SegmentOptions): { segment: Segment; rate: Rate } {
  checkOptions('a segment', options, ['dim', 'initializer', 'optimizer', 'compressor', 'learningRate']);
  const { dim, initializer, optimizer = AdagradOptimizer(), compressor, learningRate } = options;
  const segment = {
    initConfig: initializer ?? RandomUniformInitializer(),
    optConfig: optimizer,
    compConfig: compressor ?? Fp32Compressor(),
    dimSize: dim,
  };
  return { segment, rate: resolveRate(planOptimizer(optimizer, dim), learningRate) };
}

function expiryOf({ slotExpireTimes, defaultExpireTime }: TableDefinition): EmbeddingHashTableConfig {
  if (slotExpireTimes === undefined && defaultExpireTime === undefined) return {};
  return {
    slotExpireTimeConfig: {
      slotExpireTimes: [...(slotExpireTimes ?? [])].map(([slot, expireTime]) => ({ slot, expireTime })),
      ...(defaultExpireTime === undefined ? {} : { defaultExpireTime }),
    },
  };
}

export interface TestTableOptions extends TableDefinition {
  readonly useAdagrad?: boolean;
  /** The optimizer rounds weights to half precision, up or down by chance. */
  readonly useFloat16?: boolean;
  readonly learningRate?: Rate;
}

/** The table of upstream's tests: one segment of zeros, sgd at rate 1, fp32. */
export function generateTestHashTableConfig(dim = 2, options: TestTableOptions = {}): HashTableConfigInstance {
  const { useAdagrad = false, useFloat16 = false, learningRate = 1, ...definition } = options;
  const plain = useAdagrad ? AdagradOptimizer() : SgdOptimizer();
  const optimizer = useFloat16 ? withStochasticRounding(plain) : plain;
  return defineTable('', [{ dim, initializer: ZerosInitializer(), optimizer, learningRate }], definition).instance;
}
