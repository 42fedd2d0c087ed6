/**
 * @file A training task: where its batches come from and how its graph is made (native_training/native_task).
 *
 * Sparse features are ragged int64 ids by the name of the feature; everything else is dense.
 */
import { MonolithError } from '../../base/errors.js';
import type { AnyClass } from '../../base/params/instantiable-params.js';
import type { Features, Schema } from '../../data/schema.js';
import type { DataGiven } from '../../data/source-of.js';
import type { Graph, Op, Tensor } from '../../graph/graph.js';
import type { BatchListener } from '../estimator/estimator-model.js';
import type { TrainHook } from '../hooks/hook.js';
import { type Mode, nativeTaskParams } from '../task-params.js';
import type { ModelDump } from './dump-utils.js';
import { NativeContext } from './native-context.js';

/** Rows as objects, columns by the names of features, a data set, or a source of batches. */
export type TaskData = DataGiven<unknown>;

/** What the input function of a task gives. */
export interface TaskInput<F extends Features = Features> {
  readonly schema: Schema<F>;
  /** Examples of a batch, at the most. */
  readonly batchSize: number;
  readonly data: TaskData;
  /** Passes over the data; Infinity begins again and again. Default: 1. */
  readonly epochs?: number;
}

/** Called once for each graph that is built and each input that is opened. It says what there is and reads nothing. */
export type InputFn = () => TaskInput;

/** The features of a batch by name. */
export type TaskFeatures = Readonly<Record<string, Tensor>>;

/** Predictions: one tensor, or several by name. */
export type Predictions = Tensor | Readonly<Record<string, Tensor>>;

/** What a model function gives: what tf.estimator's EstimatorSpec is to the reference. */
export interface NativeSpec {
  readonly mode: Mode;
  readonly loss?: Tensor | undefined;
  /** One step of training; of an evaluation, what it needs to have run. */
  readonly trainOp?: Op | undefined;
  readonly predictions?: Predictions | undefined;
  /** The labels that evaluations compare predictions with, by the names of predictions. */
  readonly labels?: Predictions | undefined;
  /** Whether a prediction is a probability, by its name. Default: it is. */
  readonly classification?: Readonly<Record<string, boolean>>;
  readonly trainingHooks?: readonly TrainHook[];
  readonly trainingChiefHooks?: readonly TrainHook[];
  /** Sees what is predicted; made for each prediction. */
  readonly predictionListener?: (() => BatchListener) | undefined;
  /** Further signatures of an export, by name. */
  readonly exportOutputs?: Readonly<Record<string, Readonly<Record<string, Tensor>>>>;
}

/** What a model function is told of the run beside its mode. */
export interface ModelRunConfig {
  readonly graph: Graph;
  readonly modelDir: string | null;
}

export type ModelFn = (features: TaskFeatures, mode: Mode, config: ModelRunConfig) => NativeSpec;

/** What an exported model is fed, and the features that become of it. */
export interface ServingInputReceiver {
  readonly features: TaskFeatures;
  /** What the input is called, such as `instances`. */
  readonly input: string;
  /** Serialized examples as what is fed to the features. */
  parse(instances: readonly Uint8Array[]): Readonly<Record<string, unknown>>;
}
export type ServingInputReceiverFn = (graph: Graph) => ServingInputReceiver;

export type NativeTaskParams = ReturnType<typeof nativeTaskParams>;

/** Parameters that make a task. */
export interface TaskParams<T extends NativeTask = NativeTask> {
  readonly name: string;
  instantiate(): T;
}

/** A task of the user's is a class that extends this one; `params.instantiate()` makes it. */
export abstract class NativeTask<P extends { readonly name: string } = NativeTaskParams> {
  readonly p: P;
  readonly #ctx = new NativeContext();
  /** What was recorded of the task, where it is to have the tables of then: see DumpUtils. */
  dump: ModelDump | null = null;

  constructor(params: P) {
    this.p = params;
    if (typeof params.name !== 'string' || params.name === '')
      throw new MonolithError('ML_TASK', { reason: 'a task must have a name' });
  }

  /** The parameters of the class, to be changed and made an instance of. */
  static params<T>(this: AnyClass<T>) {
    // biome-ignore lint/complexity/noThisInStatic: it is about the class that is asked, not this one
    return nativeTaskParams(this);
  }

  /** Whether its tables come from a dump, and not from what its model function declares. */
  get isDumped(): boolean {
    return this.dump !== null;
  }

  get name(): string {
    return this.p.name;
  }

  /** What its slots are made with. */
  get ctx(): NativeContext {
    return this.#ctx;
  }

  abstract createInputFn(mode: Mode): InputFn;
  abstract createModelFn(): ModelFn;

  /** Null: the task cannot be exported. */
  createServingInputReceiverFn(): ServingInputReceiverFn | null {
    return null;
  }
}

/** The placeholders of a schema, by the names of its features. */
export function inputsOf(schema: Schema<Features>, graph: Graph): TaskFeatures {
  return schema.inputs(graph) as TaskFeatures;
}
