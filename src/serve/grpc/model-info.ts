/** @file What a model takes and gives, and which versions there are, as messages of TensorFlow Serving. */
import { columnsOf } from '../online/columns.js';
import { dtypeOf, outputName } from '../online/model-docs.js';
import { refusal } from '../online/refusal.js';
import type { ServedModel, VersionState } from '../online/served-model.js';
import type { ServedVersion } from '../online/served-version.js';
import { DTYPE, type TensorInfo } from '../saved-model/messages.js';
import { METADATA_RESPONSE, type ModelSpec, SIGNATURES, STATUS_RESPONSE } from './messages.js';

const FIELD = 'signature_def';
const TYPE = 'type.googleapis.com/tensorflow.serving.SignatureDefMap';
const STATES = { LOADING: 20, AVAILABLE: 30, UNLOADING: 40, END: 50 } as const satisfies Record<
  VersionState['state'],
  number
>;
/** tensorflow.error.Code. */
const UNKNOWN = 2;

const infoOf = (name: string, dtype: keyof typeof DTYPE, width: number): TensorInfo => ({
  name: `${name}:0`,
  dtype: DTYPE[dtype],
  tensorShape: { dim: (width === 1 ? [-1] : [-1, width]).map((size) => ({ size: BigInt(size) })) },
});

/** The metadata of a version: its signature, the only field there is. */
export function metadataOf({ model }: ServedVersion, modelSpec: ModelSpec, fields: readonly string[]): Uint8Array {
  if (fields.length === 0) throw refusal(400, 'GetModelMetadataRequest must specify at least one metadata_field');
  const stranger = fields.find((name) => name !== FIELD);
  if (stranger !== undefined)
    throw refusal(400, `Metadata field ${stranger} is not supported`, { hint: `there is ${FIELD}` });
  const { heads, schema } = model;
  const inputs = columnsOf(schema.features).map(({ column, feature }) => {
    const dtype = dtypeOf(feature).replace('DT_', '') as keyof typeof DTYPE;
    return [column, infoOf(column, dtype, feature.kind === 'ragged' ? -1 : feature.width)] as const;
  });
  const outputs = heads.map((head) => [outputName(heads, head), infoOf(head.name, 'FLOAT', head.width)] as const);
  const signature = {
    inputs: new Map(inputs),
    outputs: new Map(outputs),
    methodName: 'tensorflow/serving/predict',
  };
  const value = SIGNATURES.encode({ signatureDef: new Map([['serving_default', signature]]) });
  return METADATA_RESPONSE.encode({ modelSpec, metadata: new Map([[FIELD, { typeUrl: TYPE, value }]]) });
}

/** Versions and their states; 404 for a version that nobody knows. */
export function statusesOf(model: ServedModel, version: string | undefined): Uint8Array {
  const states = model.states.filter((one) => version === undefined || one.version === version);
  if (states.length === 0) {
    throw refusal(404, `Could not find version ${version} of model ${model.name}`, {
      hint: `version ${model.current.version} answers`,
    });
  }
  const modelVersionStatus = states.map(({ version: number, state, error = '' }) => ({
    version: BigInt(number),
    state: STATES[state],
    status: { errorCode: error === '' ? 0 : UNKNOWN, errorMessage: error },
  }));
  return STATUS_RESPONSE.encode({ modelVersionStatus });
}
