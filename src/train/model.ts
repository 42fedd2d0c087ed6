/** @file A model as a value: what it is called, what its examples hold, and how its graph of each mode is made. */
import type { Features, Schema } from '../data/schema.js';
import type { Mode } from '../graph/mode.js';
import type { ModelIn } from './model-spec.js';

/** What a graph is made with that the model does not say. */
export interface BuildOptions {
  /**
   * Ids per example of features that do not say it themselves, on average over a part of the batch. More in a batch is
   * ML_FEED: build again with more.
   */
  readonly valuesPerRow?: Readonly<Record<string, number>> | undefined;
}

/** A model that can be built once per mode. */
export interface Model<F extends Features = Features> {
  /** Checkpoints are refused by a model of another name. */
  readonly name: string;
  readonly schema: Schema<F>;
  /** A new graph of the model: nothing is shared with other builds but the names of tables and variables. */
  build<M extends Mode>(mode: M, options?: BuildOptions): ModelIn<M>;
}
