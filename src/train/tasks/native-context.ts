/** @file What a task makes its slots with and gives its gradients to (native_training/native_task, NativeContext). */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type {
  EmbeddingFactory,
  EmbeddingGradientOptions,
  GradAndColumn,
} from '../../feature/model/embedding-factory.js';
import type { FeatureSlot, FeatureSlotConfig } from '../../feature/model/feature-slot.js';
import type { Op } from '../../graph/graph.js';
import type { AsyncFunctionMgr, AsyncTarget } from '../async-function-mgr.js';

export interface NativeContextOptions {
  readonly featureFactory?: EmbeddingFactory | null;
  readonly asyncFunctionMgr?: AsyncFunctionMgr | null;
  readonly layoutFactory?: EmbeddingFactory | null;
}

/** One of the factories is set while the model function of the task runs. */
export class NativeContext {
  featureFactory: EmbeddingFactory | null;
  asyncFunctionMgr: AsyncFunctionMgr | null;
  layoutFactory: EmbeddingFactory | null;

  constructor(options: NativeContextOptions = {}) {
    checkOptions('NativeContext', options, ['featureFactory', 'asyncFunctionMgr', 'layoutFactory']);
    const { featureFactory = null, asyncFunctionMgr = null, layoutFactory = null } = options;
    if (featureFactory !== null && layoutFactory !== null) {
      throw new MonolithError('ML_TASK', {
        reason: 'Cannot set feature_factory and layout_factory in the same time',
      });
    }
    this.featureFactory = featureFactory;
    this.asyncFunctionMgr = asyncFunctionMgr;
    this.layoutFactory = layoutFactory;
  }

  createFeatureSlot(config: FeatureSlotConfig): FeatureSlot {
    return this.#factory().createFeatureSlot(config);
  }

  /** An op that steps the rows of the columns; `scale` is not for layouts, as in the reference. */
  applyEmbeddingGradients(gradsAndColumns: readonly GradAndColumn[], options: EmbeddingGradientOptions = {}): Op {
    if (this.layoutFactory === null) return this.#factory().applyGradients(gradsAndColumns, options);
    const { reqTime } = options;
    return this.layoutFactory.applyGradients(gradsAndColumns, { reqTime });
  }

  /** The op to run in a step: see AsyncFunctionMgr. Without a manager the function is called at once. */
  addAsyncFunction(
    target: AsyncTarget,
    args: readonly unknown[] = [],
    kwargs: Readonly<Record<string, unknown>> = {},
    isAsync?: boolean,
    queueName = 'async_queue',
  ): Op {
    if (this.asyncFunctionMgr !== null)
      return this.asyncFunctionMgr.addAsyncFunction(target, args, kwargs, isAsync, queueName);
    throw new MonolithError('ML_TASK', { reason: 'the context has no manager of asynchronous functions' });
  }

  #factory(): EmbeddingFactory {
    const factory = this.layoutFactory ?? this.featureFactory;
    if (factory !== null) return factory;
    const hint = 'slots are made in the model function of a task that has features of ids';
    throw new MonolithError('ML_TASK', { reason: 'the context has no feature factory' }, { hint });
  }
}
