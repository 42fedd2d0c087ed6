/**
 * @file The calls of TensorFlow Serving over gRPC, as functions from the bytes of a request to those of its answer.
 * They are answered by the same models, within the same limits, as those over HTTP.
 */
import { didYouMean } from '../../base/suggest.js';
import { classifyAnswer, regressAnswer } from '../online/answers.js';
import type { CallContext, ModelCalls } from '../online/model-calls.js';
import { outputName } from '../online/model-docs.js';
import { refusal } from '../online/refusal.js';
import { scoreRows } from '../online/score-rows.js';
import type { ServedVersion } from '../online/served-version.js';
import * as messages from './messages.js';
import { metadataOf, statusesOf } from './model-info.js';
import { rowsOfInput, rowsOfTensors } from './rows-of-tensors.js';
import { floatTensor } from './tensors.js';

/** A call: the model that was asked, for what is counted, and the answer. */
export interface AskedCall {
  readonly model: string;
  answer(): Promise<Uint8Array>;
}
export type Method = (request: Uint8Array, gone: AbortSignal) => AskedCall;

const SIGNATURES = ['serving_default', 'predict', 'raw'];

/** The services by name, with their methods. */
export function servingMethods(calls: ModelCalls): Readonly<Record<string, Readonly<Record<string, Method>>>> {
  /** A call that a version answers, and says which. */
  const byVersion = (
    spec: messages.ModelSpec | undefined,
    gone: AbortSignal,
    body: (context: CallContext, modelSpec: messages.ModelSpec) => Promise<Uint8Array>,
  ): AskedCall => ({
    model: spec?.name ?? '',
    answer: async () => {
      const { name, signatureName = '' } = named(spec);
      checkSignature(signatureName);
      return calls.answer(
        name,
        versionOf(spec),
        (context) => body(context, specOf(name, signatureName, context)),
        gone,
      );
    },
  });
  const { rowsMax, bodyBytesMax } = calls.limits;
  const PredictionService: Record<string, Method> = {
    Predict(bytes, gone) {
      const { modelSpec: spec, inputs, outputFilter } = messages.PREDICT_REQUEST.decode(bytes);
      return byVersion(spec, gone, async ({ version, check, signal }, modelSpec) => {
        const wanted = outputsOf(version, outputFilter);
        const asked = rowsOfTensors(inputs, check, { rowsMax, valuesMax: bodyBytesMax });
        const values = await scoreRows(version, asked, signal);
        const { heads } = version.model;
        const outputs = heads.flatMap((head, index) => {
          const name = outputName(heads, head);
          return wanted.has(name) ? [[name, floatTensor(values[index]!, asked.rows.length, head.width)] as const] : [];
        });
        return messages.PREDICT_RESPONSE.encode({ outputs: new Map(outputs), modelSpec });
      });
    },
    Classify(bytes, gone) {
      const { modelSpec: spec, input } = messages.EXAMPLES_REQUEST.decode(bytes);
      return byVersion(spec, gone, async ({ version, check, signal }, modelSpec) => {
        const asked = rowsOfInput(input, check, rowsMax);
        const values = await scoreRows(version, asked, signal);
        const { results } = classifyAnswer(version.model.heads, values, asked.rows.length);
        const classifications = results.map((classes) => ({
          classes: classes.map(([label, score]) => ({ label, score })),
        }));
        return messages.CLASSIFICATION_RESPONSE.encode({ result: { classifications }, modelSpec });
      });
    },
    Regress(bytes, gone) {
      const { modelSpec: spec, input } = messages.EXAMPLES_REQUEST.decode(bytes);
      return byVersion(spec, gone, async ({ version, check, signal }, modelSpec) => {
        const asked = rowsOfInput(input, check, rowsMax);
        const { results } = regressAnswer(version.model.heads, await scoreRows(version, asked, signal));
        return messages.REGRESSION_RESPONSE.encode({
          result: { regressions: results.map((value) => ({ value })) },
          modelSpec,
        });
      });
    },
    GetModelMetadata(bytes, gone) {
      const { modelSpec: spec, metadataField } = messages.METADATA_REQUEST.decode(bytes);
      return byVersion(spec, gone, async ({ version }, modelSpec) => metadataOf(version, modelSpec, metadataField));
    },
  };
  const ModelService: Record<string, Method> = {
    GetModelStatus(bytes) {
      const { modelSpec: spec } = messages.STATUS_REQUEST.decode(bytes);
      return {
        model: spec?.name ?? '',
        answer: async () => statusesOf(calls.model(named(spec).name), versionOf(spec)),
      };
    },
  };
  return { PredictionService, ModelService };
}

function named(spec: messages.ModelSpec | undefined): messages.ModelSpec {
  if (spec !== undefined && spec.name !== '') return spec;
  throw refusal(400, 'Missing ModelSpec', { hint: 'model_spec.name says which model is asked' });
}

function versionOf(spec: messages.ModelSpec | undefined): string | undefined {
  if (spec?.versionLabel === undefined) return spec?.version === undefined ? undefined : `${spec.version.value}`;
  const hint = 'versions have numbers here: model_spec.version, or none for the newest';
  throw refusal(412, `Unrecognized servable version label: ${spec.versionLabel}`, { hint });
}

function specOf(name: string, signatureName: string, { version }: CallContext): messages.ModelSpec {
  return { name, version: { value: BigInt(version.version) }, signatureName: signatureName || SIGNATURES[0]! };
}

function checkSignature(name: string): void {
  if (name === '' || SIGNATURES.includes(name)) return;
  const hint = didYouMean(name, SIGNATURES) ?? `there are ${SIGNATURES.join(', ')}`;
  throw refusal(400, `Serving signature name: ${JSON.stringify(name)} not found in signature def`, { hint });
}

/** The outputs that are asked for: all, or those of the filter. */
function outputsOf({ model: { heads } }: ServedVersion, filter: readonly string[]): ReadonlySet<string> {
  const names = heads.map((head) => outputName(heads, head));
  const stranger = filter.find((name) => !names.includes(name));
  if (stranger === undefined) return new Set(filter.length === 0 ? names : filter);
  const hint = didYouMean(stranger, names) ?? `there are ${names.join(', ')}`;
  throw refusal(400, `output tensor alias not found in signature: ${stranger}`, { hint });
}
