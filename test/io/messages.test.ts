import fc from 'fast-check';
import t from 'tap';
import {
  CHANNEL_CACHE,
  EXAMPLE,
  EXAMPLE_BATCH_ROW_MAJOR,
  FEATURE,
  FEATURE_CONFIGS,
  FEATURE_MAP,
  type Feature,
  FILTER_VALUES,
} from '../../src/io/example-messages.js';
import { INSTANCE, INSTANCE_WRAPPER, LINE_ID, REQUEST } from '../../src/io/instance-messages.js';
import { field, MessageType } from '../../src/io/message.js';
import { ProtoWriter } from '../../src/io/proto-writer.js';

const int64 = fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n });
const int64s = fc.array(int64, { maxLength: 5 }).map((list) => BigInt64Array.from(list));
const floats = fc.array(fc.float({ noNaN: true }), { maxLength: 5 }).map((list) => Float32Array.from(list));
const bytes = fc.uint8Array({ maxLength: 6 });
const feature: fc.Arbitrary<Feature> = fc.oneof(
  int64s.map((value) => ({ fidV1List: { value } })),
  int64s.map((value) => ({ fidV2List: { value } })),
  floats.map((value) => ({ floatList: { value } })),
  fc
    .array(fc.double({ noNaN: true }), { maxLength: 4 })
    .map((list) => ({ doubleList: { value: Float64Array.from(list) } })),
  int64s.map((value) => ({ int64List: { value } })),
  fc.array(bytes, { maxLength: 3 }).map((value) => ({ bytesList: { value } })),
  fc.array(int64s, { maxLength: 3 }).map((lists) => ({ fidV2Lists: { list: lists.map((value) => ({ value })) } })),
  fc.array(floats, { maxLength: 3 }).map((lists) => ({ floatLists: { list: lists.map((value) => ({ value })) } })),
  int64.map((int64Value) => ({ int64Value })),
  fc.double({ noNaN: true }).map((doubleValue) => ({ doubleValue })),
  bytes.map((bytesValue) => ({ bytesValue })),
);

t.test('features of every kind survive the wire, zero values of the chosen member included', async (t) => {
  fc.assert(
    fc.property(feature, (one) => void t.same(FEATURE.decode(FEATURE.encode(one)), one)),
    { numRuns: 60 },
  );
  t.same([...FEATURE.encode({ int64Value: 0n })], [12 * 8, 0]);
});

t.test('of several members of a oneof the last counts', async (t) => {
  const both = Uint8Array.from([...FEATURE.encode({ int64Value: 3n }), ...FEATURE.encode({ floatValue: 2 })]);
  t.same(FEATURE.decode(both), { floatValue: 2 });
});

t.test('examples have proto3 defaults, and parts of a sub-message merge', async (t) => {
  t.same(EXAMPLE.encode({ instanceWeight: 0, label: new Float32Array(0) }).length, 0);
  const empty = EXAMPLE.decode(new Uint8Array(0));
  t.same(empty, {
    namedFeature: [],
    namedRawFeature: [],
    label: new Float32Array(0),
    instanceWeight: 0,
    dataSourceKey: 0,
  });
  const parts = [EXAMPLE.encode({ lineId: { uid: 1n } }), EXAMPLE.encode({ lineId: { reqTime: 2n } })];
  t.match(EXAMPLE.decode(Buffer.concat(parts)).lineId, { uid: 1n, reqTime: 2n });
  const row = EXAMPLE_BATCH_ROW_MAJOR.encode({
    example: [{ label: Float32Array.of(1), namedFeature: [{ name: 'a' }] }],
  });
  t.match(EXAMPLE_BATCH_ROW_MAJOR.decode(row).example[0], { label: Float32Array.of(1), namedFeature: [{ name: 'a' }] });
});

t.test('repeated numbers are read packed and unpacked', async (t) => {
  const mixed = new ProtoWriter().floatField(101, 1).bytesField(101, new Uint8Array(Float32Array.of(2, 3).buffer));
  t.same([...EXAMPLE.decode(mixed.finish()).label], [1, 2, 3]);
  const ids = new ProtoWriter().sfixed64Field(1, -5n).sfixed64Field(1, 6n).int64Field(39, 7);
  t.same([...INSTANCE.decode(ids.finish()).fid], [-5n, 6n]);
  t.same(
    LINE_ID.decode(new ProtoWriter().bytesField(6, Uint8Array.of(1, 2)).int64Field(6, 3).finish()).actions,
    [1, 2, 3],
  );
});

t.test('fields outside the table are kept where real data has them', async (t) => {
  const real = new ProtoWriter().sfixed64Field(2, 9n).bytesField(300, 'more').int64Field(301, -1).finish();
  const line = LINE_ID.decode(real);
  t.equal(line.uid, 9n);
  t.same(LINE_ID.encode(line), real);
  t.same(EXAMPLE.encode(EXAMPLE.decode(EXAMPLE.encode({ lineId: line }))), EXAMPLE.encode({ lineId: line }));
});

t.test('the other messages of the files survive the wire', async (t) => {
  const data = { gid: -1n, fids: BigInt64Array.of(5n, -6n), featureColumns: [], originCnt: 2n, sampleCnt: 0n };
  const cache = { channelId: 3n, featureDatas: [data] };
  t.same(CHANNEL_CACHE.decode(CHANNEL_CACHE.encode(cache)), cache);
  const map = { featureMap: new Map([['a', { floatValue: 1.5 }]]) };
  t.same(FEATURE_MAP.decode(FEATURE_MAP.encode(map)), map);
  const filter = { int64List: { value: BigInt64Array.of(1n) } };
  t.same(FILTER_VALUES.decode(FILTER_VALUES.encode(filter)), filter);
  const instance = INSTANCE.decode(INSTANCE.encode({ fid: BigInt64Array.of(1n), labelTag: [{ key: 1, val: 0.5 }] }));
  const request = { reqId: '', ut: 0, uid: 7n, instances: [instance] };
  t.same(REQUEST.decode(REQUEST.encode(request)), request, 'what was set is there, even when it is zero');
  const wrapper = { instance: INSTANCE.encode(instance), dataSource: 'x' };
  t.same(INSTANCE_WRAPPER.decode(INSTANCE_WRAPPER.encode(wrapper)), wrapper);
});

t.test('damaged bytes are refused, never read as values', async (t) => {
  const good = FEATURE_CONFIGS.encode({ featureConfigs: new Map([['a', { table: 't', sliceDims: [1, 2] }]]) });
  for (let end = 1; end < good.length; end++)
    t.throws(() => FEATURE_CONFIGS.decode(good.subarray(0, end)), { code: 'ML_PROTO' });
  const odd = new ProtoWriter().bytesField(1, new Uint8Array(9)).finish();
  t.throws(() => INSTANCE.decode(odd), { code: 'ML_PROTO', message: /no multiple of 8/ });
});

t.test('numbers that come one by one are joined once, however many there are', async (t) => {
  const type = new MessageType<{ ints: BigInt64Array; floats: Float32Array }>('Many', {
    ints: field(1, 'int64', 'packed'),
    floats: field(2, 'float', 'packed'),
  });
  const count = 200_000;
  const loose = new ProtoWriter();
  for (let at = 0; at < count; at++) loose.int64Field(1, at).floatField(2, at);
  const bytes = loose.bytesField(1, new Uint8Array([5, 6])).finish();
  const { ints, floats } = type.decode(bytes);
  t.same(
    [ints.length, ints[0], ints[count - 1], ints[count], ints[count + 1]],
    [count + 2, 0n, BigInt(count - 1), 5n, 6n],
  );
  t.same([floats.length, floats[count - 1]], [count, count - 1]);
});
