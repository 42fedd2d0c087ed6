/** @file What the model function of a MonolithBaseModel gives, in one form: a list of heads and a loss. */
import { MonolithError } from '../../base/errors.js';
import { log } from '../../base/log.js';
import { Tensor } from '../../graph/graph.js';
import type { VariableOptimizer } from '../../optim/apply-gradients.js';
import { EstimatorSpec, type PerHead } from '../estimator-spec.js';

/** `[label, loss, pred]`, the short form of a classification. */
export type LabelLossPred = readonly [label: PerHead<Tensor> | null, loss: Tensor | null, pred: PerHead<Tensor>];

export interface TaskHead {
  readonly name: string;
  /** Null in inference. */
  readonly label: Tensor | null;
  readonly pred: Tensor;
  readonly classification: boolean;
}

export interface NormalisedSpec {
  readonly heads: readonly TaskHead[];
  /** Whether predictions are a record. */
  readonly isRecord: boolean;
  readonly loss: Tensor | null;
  readonly optimizer: VariableOptimizer | null;
}

const NOT_CLASSIFICATION = 'if this is not a classification task, pls. return EstimatorSpec in model_fn and specify it';

/** ML_TASK for what is neither a spec nor a triple, or whose lists differ in length. */
export function normaliseSpec(given: unknown, deepInsightTarget: string): NormalisedSpec {
  const spec = asSpec(given);
  const { label, pred, headName, loss, optimizer, classification } = spec;
  const isRecord = isRecordOf(pred);
  const names = isRecord ? Object.keys(pred) : namesOf(headName, deepInsightTarget);
  const preds = listOf(pred, names);
  const labels = label === null ? preds.map(() => null) : listOf(label, names);
  const kinds = Array.isArray(classification) ? classification : preds.map(() => classification === true);
  const lengths = [names.length, labels.length, preds.length, kinds.length];
  if (lengths.some((length) => length !== preds.length)) {
    const reason = `EstimatorSpec Error! ${names.length} heads, ${labels.length} labels, ${preds.length} predictions`;
    throw new MonolithError('ML_TASK', { reason }, { hint: 'a head has a label and a prediction' });
  }
  const heads = names.map((name, i) => ({ name, label: labels[i]!, pred: preds[i]!, classification: kinds[i]! }));
  return { heads, isRecord, loss, optimizer };
}

function asSpec(given: unknown): EstimatorSpec {
  if (given instanceof EstimatorSpec) return given;
  if (!Array.isArray(given) || given.length !== 3) {
    const hint = 'a model function returns an EstimatorSpec, or [label, loss, pred]';
    throw new MonolithError('ML_TASK', { reason: 'EstimatorSpec Error!' }, { hint });
  }
  log.info(NOT_CLASSIFICATION);
  const [label, loss, pred] = given as [...LabelLossPred];
  return new EstimatorSpec({ label, loss, pred });
}

function isRecordOf(value: PerHead<Tensor>): value is Readonly<Record<string, Tensor>> {
  return !(value instanceof Tensor) && !Array.isArray(value);
}

function namesOf(headName: string | readonly string[] | null, deepInsightTarget: string): string[] {
  if (headName === null) return deepInsightTarget.split(',');
  return typeof headName === 'string' ? [headName] : [...headName];
}

/** Tensors in the order of the heads. */
function listOf(given: PerHead<Tensor>, names: readonly string[]): readonly Tensor[] {
  if (given instanceof Tensor) return [given];
  if (Array.isArray(given)) return given as readonly Tensor[];
  const record = given as Readonly<Record<string, Tensor>>;
  return names.flatMap((name) => (Object.hasOwn(record, name) ? [record[name]!] : []));
}
