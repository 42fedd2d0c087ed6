/** @file The calls of TensorFlow Serving as functions of bytes: rows in every form, and what is wrong with requests. */
import t from 'tap';
import { encodeTfExample } from '../../../src/io/tf-example.js';
import * as messages from '../../../src/serve/grpc/messages.js';
import { servingMethods } from '../../../src/serve/grpc/prediction-service.js';
import { ModelCalls } from '../../../src/serve/online/model-calls.js';
import { DTYPE, type TensorProto } from '../../../src/serve/saved-model/messages.js';
import { exportedShop, openShop } from '../online/served.js';
import { purchases } from '../shops.js';
import { bytes, columnsOf, exampleOf, floats, int64s, shapeOf, spec, texts } from './wire.js';

const shop = await openShop(await exportedShop(t.testdir()));
t.teardown(() => shop.close());
const services = servingMethods(new ModelCalls({ shop }, { rowsMax: 100 }));
const rows = purchases(5, 7000);
const asked = rows.map(({ user, item, tags, price }) => ({ user, item, tags, price }));
const expected = Array.from(await shop.predict(asked as never));

const call = (service: string, name: string, request: Uint8Array) =>
  services[service]![name]!(request, new AbortController().signal).answer();

async function predict(inputs: readonly (readonly [string, TensorProto])[], more: object = {}) {
  const request = { modelSpec: spec(), inputs: new Map(inputs), ...more };
  const answer = await call('PredictionService', 'Predict', messages.PREDICT_REQUEST.encode(request));
  return messages.PREDICT_RESPONSE.decode(answer);
}
const valuesOf = async (inputs: readonly (readonly [string, TensorProto])[], more?: object) =>
  Array.from((await predict(inputs, more)).outputs.get('output')!.floatVal!);

t.test('columns by name are answered with a tensor, and who answered', async (t) => {
  const { outputs, modelSpec } = await predict(columnsOf(rows));
  t.same([...outputs.keys()], ['output']);
  t.match(outputs.get('output'), { dtype: DTYPE.FLOAT, tensorShape: { dim: [{ size: 5n }] } });
  t.same(Array.from(outputs.get('output')!.floatVal!), expected);
  t.match(modelSpec, { name: 'shop', signatureName: 'serving_default' });
  t.ok(modelSpec.version!.value > 0n);
  t.same(await valuesOf(columnsOf(rows), { modelSpec: spec({ version: modelSpec.version! }) }), expected);
});

t.test('values may stand in bytes, in other types, or once for all rows', async (t) => {
  const [user, , tags, price] = columnsOf(rows);
  const content = (dtype: number, array: ArrayBufferView, ...sizes: number[]): TensorProto => ({
    ...{ dtype, tensorShape: shapeOf(...sizes) },
    tensorContent: new Uint8Array(array.buffer, array.byteOffset, array.byteLength),
  });
  const items = BigInt64Array.from(rows, ({ item }) => BigInt(item));
  t.same(await valuesOf([user!, tags!, price!, ['item', content(DTYPE.INT64, items, 5, 1)]]), expected);
  const small = Int32Array.from(rows, ({ item }) => item);
  const doubles = Float64Array.from(rows, ({ price }) => Math.fround(price));
  const other = [
    ['item', content(DTYPE.INT32, small, 5)],
    ['price', content(DTYPE.DOUBLE, doubles, 5)],
  ] as const;
  t.same(await valuesOf([user!, tags!, ...other]), expected);
  const once = await valuesOf([user!, ['price', { ...floats([2.5]), tensorShape: shapeOf(5) }]]);
  t.same(
    once,
    Array.from(await shop.predict(rows.map(({ user }) => ({ user, tags: '', price: 2.5, item: '' })) as never)),
  );
});

t.test('ids of lists are texts, rows filled up at the end, or places and values', async (t) => {
  const [user, item, , price] = columnsOf(rows);
  const lists = rows.map(({ tags }) => tags.split('|'));
  const filled = lists.flatMap((list) => Array.from({ length: 4 }, (_, at) => list[at] ?? ''));
  t.same(await valuesOf([user!, item!, price!, ['tags', texts(filled, 5, 4)]]), expected);
  const places = lists.flatMap((list, row) => list.flatMap((_, at) => [BigInt(row), BigInt(at)]));
  const values = lists.flat();
  const sparse: [string, TensorProto][] = [
    ['tags_indices', int64s(places, values.length, 2)],
    ['tags_values', texts(values)],
    ['batch_size', { dtype: DTYPE.INT32, tensorShape: {}, intVal: [5] }],
  ];
  t.same(await valuesOf([user!, item!, price!, ...sparse], { modelSpec: spec({ signatureName: 'raw' }) }), expected);
  const alone = await valuesOf(sparse);
  t.equal(alone.length, 5, 'the number of rows is said by batch_size');
});

t.test('serialized examples are rows, in predictions, classes and regressions', async (t) => {
  const examples = rows.map(exampleOf);
  for (const name of ['instances', 'examples', 'inputs']) t.same(await valuesOf([[name, bytes(examples)]]), expected);
  const request = { modelSpec: spec(), input: { exampleList: { examples } } };
  const numbers = await call('PredictionService', 'Regress', messages.EXAMPLES_REQUEST.encode(request));
  t.same(
    messages.REGRESSION_RESPONSE.decode(numbers).result.regressions.map(({ value }) => value),
    expected,
  );
  const classes = await call('PredictionService', 'Classify', messages.EXAMPLES_REQUEST.encode(request));
  const { result } = messages.CLASSIFICATION_RESPONSE.decode(classes);
  t.same(
    result.classifications.map(({ classes: [no, yes] }) => [no!.label, yes!.label, yes!.score]),
    expected.map((score) => ['0', '1', score]),
  );
});

t.test('what is in the context is of every example', async (t) => {
  const context = exampleOf(rows[0]!);
  const more = encodeItems([3n, 4n]);
  const request = { modelSpec: spec(), input: { exampleListWithContext: { examples: more, context } } };
  const numbers = await call('PredictionService', 'Regress', messages.EXAMPLES_REQUEST.encode(request));
  const wanted = await shop.predict([3, 4].map((item) => ({ ...asked[0]!, item })) as never);
  t.same(
    messages.REGRESSION_RESPONSE.decode(numbers).result.regressions.map(({ value }) => value),
    Array.from(wanted),
  );
});

function encodeItems(items: readonly bigint[]): Uint8Array[] {
  return items.map((item) => messagesOf(item));
}
const messagesOf = (item: bigint) => encodeTfExample({ item: BigInt64Array.of(item) });

t.test('metadata and status are those of the other way to ask', async (t) => {
  const request = { modelSpec: spec(), metadataField: ['signature_def'] };
  const told = await call('PredictionService', 'GetModelMetadata', messages.METADATA_REQUEST.encode(request));
  const { metadata } = messages.METADATA_RESPONSE.decode(told);
  const { typeUrl, value } = metadata.get('signature_def')!;
  t.equal(typeUrl, 'type.googleapis.com/tensorflow.serving.SignatureDefMap');
  const signature = messages.SIGNATURES.decode(value).signatureDef.get('serving_default')!;
  t.same([...signature.inputs!.keys()].sort(), ['item', 'price', 'tags', 'user']);
  t.match(signature.inputs!.get('price'), { dtype: DTYPE.FLOAT, tensorShape: { dim: [{ size: -1n }] } });
  t.match(signature.outputs.get('output'), { dtype: DTYPE.FLOAT });
  t.equal(signature.methodName, 'tensorflow/serving/predict');
  const status = await call('ModelService', 'GetModelStatus', messages.STATUS_REQUEST.encode({ modelSpec: spec() }));
  const [version] = messages.STATUS_RESPONSE.decode(status).modelVersionStatus;
  t.match(version, { state: 30, status: { errorCode: 0, errorMessage: '' } });
});

const [USER] = columnsOf(rows);
const BAD: readonly (readonly [
  what: string,
  inputs: readonly (readonly [string, TensorProto])[],
  more: object,
  error: RegExp,
])[] = [
  ['no model', [USER!], { modelSpec: spec({ name: '' }) }, /Missing ModelSpec/],
  ['another model', [USER!], { modelSpec: spec({ name: 'shp' }) }, /Latest\(shp\)/],
  ['another version', [USER!], { modelSpec: spec({ version: { value: 9n } }) }, /Specific\(shop, 9\)/],
  ['a label of a version', [USER!], { modelSpec: spec({ versionLabel: 'new' }) }, /label: new/],
  ['another signature', [USER!], { modelSpec: spec({ signatureName: 'rwa' }) }, /Serving signature name: "rwa"/],
  ['another output', [USER!], { outputFilter: ['outptu'] }, /alias not found in signature: outptu/],
  ['no inputs', [], {}, /inputs: there are none/],
  ['a near name', [['usr', texts(['a'])]], {}, /inputs\.usr: unknown feature/],
  ['a cell of a wrong type', [['price', texts(['1', 'cheap'])]], {}, /inputs\[1\]\.price: "cheap" is not a number/],
  ['columns of other lengths', [USER!, ['item', int64s([1n])]], {}, /inputs\.user: it has 5 rows, and item has 1/],
  ['no example', [['instances', bytes([Buffer.from('no')])]], {}, /instances\[0\]: it is no serialized tf\.Example/],
  ['no examples', [['instances', bytes([])]], {}, /instances: the list is empty/],
  ['too many rows', [['user', { ...texts(['a']), tensorShape: shapeOf(101) }]], {}, /101 rows are more than 100/],
  ['a shape that is huge', [['user', { ...texts(['a']), tensorShape: shapeOf(2 ** 40) }]], {}, /values are more than/],
  [
    'a shape that is huge and empty',
    [['user', { ...texts([]), tensorShape: shapeOf(2 ** 40, 0) }]],
    {},
    /rows are more/,
  ],
  [
    'a shape that is too huge',
    [['user', { ...texts([]), tensorShape: shapeOf(...new Array(40).fill(2 ** 40), 0) }]],
    {},
    /more than/,
  ],
  ['a shape below nothing', [['user', { ...texts(['a']), tensorShape: shapeOf(-1) }]], {}, /shape is not known/],
  ['no rank', [['user', { ...texts(['a']), tensorShape: {} }]], {}, /the shape \[\] is that of no column/],
  ['three axes', [['user', texts(['a'], 1, 1, 1)]], {}, /the shape \[1, 1, 1\] is that of no column/],
  ['too few values', [['user', texts([], 3)]], {}, /0 values do not fill a shape of 3/],
  ['too many values', [['user', texts(['a', 'b'], 1)]], {}, /2 values do not fill a shape of 1/],
  [
    'bytes that do not fit',
    [['price', { dtype: 1, tensorShape: shapeOf(2), tensorContent: new Uint8Array(7) }]],
    {},
    /7 bytes are not 2 values of 4/,
  ],
  ['a dtype that is none of these', [['price', { dtype: 8, tensorShape: shapeOf(1) }]], {}, /dtype 8 is not taken/],
  ['places alone', [USER!, ['tags_indices', int64s([0n, 0n], 1, 2)]], {}, /inputs\.tags_values: it is missing/],
  [
    'places without rows',
    [
      ['tags_indices', int64s([0n, 0n], 1, 2)],
      ['tags_values', texts(['a'])],
    ],
    {},
    /batch_size: it is missing/,
  ],
  [
    'a place outside',
    [USER!, ['tags_indices', int64s([9n, 0n], 1, 2)], ['tags_values', texts(['a'])]],
    {},
    /there is no row 9/,
  ],
  [
    'places of another shape',
    [USER!, ['tags_indices', int64s([0n], 1)], ['tags_values', texts(['a'])]],
    {},
    /shape is not \[1, 2\]/,
  ],
  [
    'a number of rows that is none',
    [
      ['batch_size', int64s([0n], 1)],
      ['tags_indices', int64s([0n, 0n], 1, 2)],
      ['tags_values', texts(['a'])],
    ],
    {},
    /a number of rows from 1 to 100/,
  ],
];

for (const [what, inputs, more, message] of BAD) {
  t.test(`${what} is refused with its place`, async (t) => {
    await t.rejects(predict(inputs, more), { code: 'ML_REQUEST', message });
  });
}

t.test('bytes that are no message, fields and versions that are not there are refused', async (t) => {
  t.throws(() => services.PredictionService!.Predict!(Buffer.from('no message'), new AbortController().signal), {
    code: 'ML_PROTO',
  });
  const ask = (fields: readonly string[]) =>
    call(
      'PredictionService',
      'GetModelMetadata',
      messages.METADATA_REQUEST.encode({ modelSpec: spec(), metadataField: [...fields] }),
    );
  await t.rejects(ask([]), { message: /must specify at least one metadata_field/ });
  await t.rejects(ask(['other']), { message: /Metadata field other is not supported/ });
  const version = { modelSpec: spec({ version: { value: 9n } }) };
  await t.rejects(call('ModelService', 'GetModelStatus', messages.STATUS_REQUEST.encode(version)), {
    message: /Could not find version 9 of model shop/,
  });
});
