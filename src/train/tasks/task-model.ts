/**
 * @file A task as a model that an estimator takes: what it is called, what its batches hold, its graph of each mode.
 */
import { MonolithError } from '../../base/errors.js';
import type { Features, Schema } from '../../data/schema.js';
import { Graph, misfit, Tensor } from '../../graph/graph.js';
import type { Mode as GraphMode } from '../../graph/mode.js';
import type { ModelHead } from '../../model/heads.js';
import type { BuiltModel, EstimatorModel } from '../estimator/estimator-model.js';
import type { Mode } from '../task-params.js';
import type { CpuTraining } from './cpu-training.js';
import type { HookContext } from './hook-assembly.js';
import { inputsOf, type NativeSpec, type Predictions, type TaskFeatures, type TaskInput } from './native-task.js';

/** The mode of a task that a graph of each mode is for: the reference calls prediction `infer`. */
export const TASK_MODE: Readonly<Record<GraphMode, Mode>> = { train: 'train', eval: 'eval', predict: 'infer' };

export interface TaskModelOptions extends HookContext {
  readonly modelDir: string | null;
}

/** What a built graph was made of; kept by the graph. */
const SPEC = 'native_spec';

/** The spec that the model function of a task gave for a graph. */
export function nativeSpecOf(graph: Graph): NativeSpec | undefined {
  return graph.getMeta<{ spec?: NativeSpec }>(SPEC, () => ({})).spec;
}

/** A task for an estimator. */
export class TaskModel implements EstimatorModel {
  readonly lossAlone = true;
  readonly name: string;
  readonly training: CpuTraining;
  readonly #options: TaskModelOptions;
  #input: TaskInput | undefined;

  constructor(training: CpuTraining, options: TaskModelOptions) {
    this.training = training;
    this.name = training.config.modelName;
    this.#options = options;
  }

  /** That of the input it is trained with; other inputs may have fewer features. */
  get schema(): Schema<Features> {
    this.#input ??= this.training.createInputFn('train')();
    return this.#input.schema as Schema<Features>;
  }

  build(mode: GraphMode): BuiltModel {
    const { modelDir, ...hooks } = this.#options;
    const graph = new Graph({ mode });
    const features = this.#features(mode, graph);
    const spec = this.training.createModelFn(hooks)(features, TASK_MODE[mode], { graph, modelDir });
    graph.getMeta(SPEC, () => ({ spec }));
    checkSpec(this.name, mode, spec);
    const heads = headsOf(this.name, spec);
    return {
      name: this.name,
      graph,
      ...(heads[0] && { pred: heads[0].pred, label: heads[0].label }),
      ...(spec.loss && { loss: spec.loss }),
      ...(mode === 'train' && { trainOp: spec.trainOp! }),
      ...(mode === 'predict' && spec.predictionListener && { listener: spec.predictionListener }),
      heads,
    } as BuiltModel;
  }

  /** The placeholders of a mode's input, as far as a batch of training has them. */
  #features(mode: GraphMode, graph: Graph): TaskFeatures {
    const all = inputsOf(this.schema, graph);
    if (mode === 'train') return all;
    const { specs } = this.training.createInputFn(TASK_MODE[mode])().schema;
    const known = this.schema.specs;
    const strange = specs.find((spec) => !known.some((own) => own.name === spec.name && own.kind === spec.kind));
    if (strange !== undefined) {
      const reason = `the input of ${TASK_MODE[mode]} has a feature ${strange.name} that the one of training has not`;
      throw new MonolithError('ML_TASK', { reason }, { hint: 'inputs of one task have the same features, or fewer' });
    }
    return Object.fromEntries(specs.map(({ name }) => [name, all[name]!]));
  }
}

function checkSpec(name: string, mode: GraphMode, spec: NativeSpec): void {
  const needed = { train: ['loss', 'trainOp'], eval: ['loss'], predict: ['predictions'] } as const;
  for (const part of needed[mode]) {
    if (spec[part] === undefined) throw misfit(name, `its model function gave no ${part} in mode ${TASK_MODE[mode]}`);
  }
}

const named = (tensors: Predictions | undefined): Readonly<Record<string, Tensor>> =>
  tensors === undefined ? {} : tensors instanceof Tensor ? { '': tensors } : tensors;

/** A head for each prediction, with its label where there is one of the same name. */
function headsOf(name: string, { predictions, labels, loss, classification = {} }: NativeSpec): readonly ModelHead[] {
  const given = named(labels);
  return Object.entries(named(predictions)).map(([head, pred]) => ({
    name: head === '' ? name : head,
    kind: classification[head] === false ? 'regression' : 'own',
    pred,
    label: given[head],
    loss,
  })) as ModelHead[];
}
