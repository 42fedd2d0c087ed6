/** @file Messages of TensorFlow Serving (package tensorflow.serving): predictions, metadata, status. */
import { field, MessageType } from '../../io/message.js';
import { SIGNATURE, type SignatureDef, TENSOR, type TensorProto } from '../saved-model/messages.js';

/** Which model, version and signature are meant, or have answered. */
export interface ModelSpec {
  name: string;
  /** One of these, or neither. */
  version?: { value: bigint };
  versionLabel?: string;
  signatureName: string;
}
export interface PredictRequest {
  modelSpec?: ModelSpec;
  inputs: Map<string, TensorProto>;
  outputFilter: string[];
}
interface PredictResponse {
  outputs: Map<string, TensorProto>;
  modelSpec: ModelSpec;
}
/** Examples are kept as bytes: rows are made of them one by one. */
export interface ExampleInput {
  exampleList?: { examples: Uint8Array[] };
  exampleListWithContext?: { examples: Uint8Array[]; context?: Uint8Array };
}
export interface ExamplesRequest {
  modelSpec?: ModelSpec;
  input?: ExampleInput;
}
interface ClassificationResponse {
  result: { classifications: { classes: { label: string; score: number }[] }[] };
  modelSpec: ModelSpec;
}
interface RegressionResponse {
  result: { regressions: { value: number }[] };
  modelSpec: ModelSpec;
}
interface MetadataRequest {
  modelSpec?: ModelSpec;
  metadataField: string[];
}
interface MetadataResponse {
  modelSpec: ModelSpec;
  metadata: Map<string, { typeUrl: string; value: Uint8Array }>;
}
interface StatusResponse {
  modelVersionStatus: { version: bigint; state: number; status: { errorCode: number; errorMessage: string } }[];
}

const INT64 = new MessageType<{ value: bigint }>('Int64Value', { value: field(1, 'int64') });
const SPEC = new MessageType<ModelSpec>('ModelSpec', {
  name: field(1, 'string'),
  version: field(2, INT64, 'oneof'),
  signatureName: field(3, 'string'),
  versionLabel: field(4, 'string', 'oneof'),
});
export const PREDICT_REQUEST = new MessageType<PredictRequest>('PredictRequest', {
  modelSpec: field(1, SPEC),
  inputs: field(2, TENSOR, 'map'),
  outputFilter: field(3, 'string', 'repeated'),
});
export const PREDICT_RESPONSE = new MessageType<PredictResponse>('PredictResponse', {
  outputs: field(1, TENSOR, 'map'),
  modelSpec: field(2, SPEC),
});

const LIST = new MessageType<{ examples: Uint8Array[] }>('ExampleList', { examples: field(1, 'bytes', 'repeated') });
const LIST_WITH_CONTEXT = new MessageType<{ examples: Uint8Array[]; context?: Uint8Array }>('ExampleListWithContext', {
  examples: field(1, 'bytes', 'repeated'),
  context: field(2, 'bytes', 'optional'),
});
const INPUT = new MessageType<ExampleInput>('Input', {
  exampleList: field(1, LIST, 'oneof'),
  exampleListWithContext: field(2, LIST_WITH_CONTEXT, 'oneof'),
});
/** Of both calls: they differ in their answers alone. */
export const EXAMPLES_REQUEST = new MessageType<ExamplesRequest>('ClassificationRequest', {
  modelSpec: field(1, SPEC),
  input: field(2, INPUT),
});

const CLASS = new MessageType<{ label: string; score: number }>('Class', {
  label: field(1, 'string'),
  score: field(2, 'float'),
});
const CLASSES = new MessageType<{ classes: { label: string; score: number }[] }>('Classifications', {
  classes: field(1, CLASS, 'repeated'),
});
const CLASSIFIED = new MessageType<ClassificationResponse['result']>('ClassificationResult', {
  classifications: field(1, CLASSES, 'repeated'),
});
export const CLASSIFICATION_RESPONSE = new MessageType<ClassificationResponse>('ClassificationResponse', {
  result: field(1, CLASSIFIED),
  modelSpec: field(2, SPEC),
});

const REGRESSION = new MessageType<{ value: number }>('Regression', { value: field(1, 'float') });
const REGRESSED = new MessageType<RegressionResponse['result']>('RegressionResult', {
  regressions: field(1, REGRESSION, 'repeated'),
});
export const REGRESSION_RESPONSE = new MessageType<RegressionResponse>('RegressionResponse', {
  result: field(1, REGRESSED),
  modelSpec: field(2, SPEC),
});

export const METADATA_REQUEST = new MessageType<MetadataRequest>('GetModelMetadataRequest', {
  modelSpec: field(1, SPEC),
  metadataField: field(2, 'string', 'repeated'),
});
const ANY = new MessageType<{ typeUrl: string; value: Uint8Array }>('Any', {
  typeUrl: field(1, 'string'),
  value: field(2, 'bytes'),
});
export const METADATA_RESPONSE = new MessageType<MetadataResponse>('GetModelMetadataResponse', {
  modelSpec: field(1, SPEC),
  metadata: field(2, ANY, 'map'),
});
export const SIGNATURES = new MessageType<{ signatureDef: Map<string, SignatureDef> }>('SignatureDefMap', {
  signatureDef: field(1, SIGNATURE, 'map'),
});

export const STATUS_REQUEST = new MessageType<{ modelSpec?: ModelSpec }>('GetModelStatusRequest', {
  modelSpec: field(1, SPEC),
});
const STATUS = new MessageType<{ errorCode: number; errorMessage: string }>('StatusProto', {
  errorCode: field(1, 'int32'),
  errorMessage: field(2, 'string'),
});
const VERSION_STATUS = new MessageType<StatusResponse['modelVersionStatus'][number]>('ModelVersionStatus', {
  version: field(1, 'int64'),
  state: field(2, 'int32'),
  status: field(3, STATUS),
});
export const STATUS_RESPONSE = new MessageType<StatusResponse>('GetModelStatusResponse', {
  modelVersionStatus: field(1, VERSION_STATUS, 'repeated'),
});
