/** @file What a model takes and gives, told to clients: as TensorFlow Serving does, and as OpenAPI. */
import type { Feature } from '../../data/schema.js';
import type { LoadedHead } from '../loaded-model.js';
import { columnsOf } from './columns.js';
import type { ServedModel } from './served-model.js';

/** The answer to a question for the status. */
export function statusAnswer(model: ServedModel, version?: string): object {
  const states = model.states.filter((one) => version === undefined || one.version === version);
  return {
    model_version_status: states.map(({ version, state, error = '' }) => ({
      version,
      state,
      status: { error_code: error === '' ? 'OK' : 'UNKNOWN', error_message: error },
    })),
  };
}

/** The dtype of a column, as far as one has one: ids may be texts too. */
export function dtypeOf({ kind, field }: Feature): 'DT_FLOAT' | 'DT_INT64' | 'DT_STRING' {
  if (kind === 'dense') return 'DT_FLOAT';
  return field?.role === 'id' || field?.role === 'ids' ? 'DT_STRING' : 'DT_INT64';
}

const dims = (sizes: readonly number[]) => ({
  dim: sizes.map((size) => ({ size: `${size}`, name: '' })),
  unknown_rank: false,
});

const widthOf = (feature: Feature): number => (feature.kind === 'ragged' ? -1 : feature.width);

/** The answer to a question for the metadata. */
export function metadataAnswer({ name, current }: ServedModel): object {
  const { schema, heads } = current.model;
  const inputs = columnsOf(schema.features).map(({ column, feature }) => {
    const width = widthOf(feature);
    const info = { dtype: dtypeOf(feature), tensor_shape: dims(width === 1 ? [-1] : [-1, width]), name: `${column}:0` };
    return [column, info] as const;
  });
  const outputs = heads.map((head) => [outputName(heads, head), outputInfo(head)] as const);
  const signature = {
    inputs: Object.fromEntries(inputs),
    outputs: Object.fromEntries(outputs),
    method_name: 'tensorflow/serving/predict',
  };
  return {
    model_spec: { name, signature_name: '', version: current.version },
    metadata: {
      signature_def: {
        '@type': 'type.googleapis.com/tensorflow.serving.SignatureDefMap',
        signature_def: { serving_default: signature },
      },
    },
  };
}

/** `output` of one head, else its name. */
export const outputName = (heads: readonly LoadedHead[], head: LoadedHead): string =>
  heads.length === 1 ? 'output' : head.name;

const outputInfo = (head: LoadedHead) => ({
  dtype: 'DT_FLOAT',
  tensor_shape: dims(head.width === 1 ? [-1] : [-1, head.width]),
  name: `${head.name}:0`,
});

/** What a cell of a column may be, as JSON schema has it. */
function cellSchema({ kind, field, ...rest }: Feature): object {
  const id = {
    oneOf: [{ type: 'integer' }, { type: 'string' }],
    description: 'a number, digits as text, or any text',
  };
  if (kind === 'ragged') return { oneOf: [{ type: 'array', items: id }, { type: 'string' }] };
  const { width } = rest as { readonly width: number };
  if (kind === 'ids' && field?.role === 'time') {
    return { oneOf: [{ type: 'number' }, { type: 'string' }], description: 'Unix seconds, or an ISO text' };
  }
  const one = kind === 'ids' ? id : { type: 'number', nullable: true };
  return width === 1 ? one : { type: 'array', items: one, minItems: width, maxItems: width };
}

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const refused = { description: 'what is wrong, with its place', ...json({ $ref: '#/components/schemas/Error' }) };

/** The OpenAPI document of all models. */
export function openApi(models: Iterable<ServedModel>): object {
  const paths: Record<string, object> = {};
  const schemas: Record<string, object> = {
    Error: { type: 'object', properties: { error: { type: 'string' }, code: { type: 'string' } } },
  };
  for (const { name, current } of models) {
    const row = `${name}.row`;
    const columns = columnsOf(current.model.schema.features);
    schemas[row] = {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(columns.map(({ column, feature }) => [column, cellSchema(feature)])),
    };
    const item = { $ref: `#/components/schemas/${row}` };
    const list = (key: string) => ({ type: 'object', properties: { [key]: { type: 'array', items: item } } });
    const call = (verb: string, summary: string, body: object) => {
      paths[`/v1/models/${name}:${verb}`] = {
        post: {
          summary,
          requestBody: json(body),
          responses: { 200: { description: 'the answer', ...json({ type: 'object' }) }, 400: refused },
        },
      };
    };
    call('predict', `What ${name} predicts for rows.`, list('instances'));
    call('classify', 'Classes with their scores.', list('examples'));
    call('regress', 'A number for each example.', list('examples'));
    call('recommend', 'The candidates with the highest scores.', {
      type: 'object',
      properties: { for: item, top: { type: 'integer' }, item: { type: 'string' }, exclude: { type: 'array' } },
    });
    call('lookup', 'Rows of ids in the table of a feature.', {
      type: 'object',
      properties: { feature: { type: 'string', enum: [...current.model.tableOf.keys()] }, ids: { type: 'array' } },
    });
    paths[`/v1/models/${name}`] = {
      get: { summary: 'Versions and their state.', responses: { 200: { description: 'the status' } } },
    };
  }
  return { openapi: '3.1.0', info: { title: 'monolith', version: '1' }, paths, components: { schemas } };
}
