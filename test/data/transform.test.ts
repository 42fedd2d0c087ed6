import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Dataset } from '../../src/data/dataset.js';
import { frame } from '../../src/data/files/framing.js';
import { addLabel, INVALID_LABEL } from '../../src/data/transform/add-label.js';
import { type TransformGiven, transformOf } from '../../src/data/transform/transform.js';
import { EXAMPLE } from '../../src/io/example-messages.js';
import { LABEL_CONF, TRANSFORM_CONFIG } from '../../src/io/transform-messages.js';

const ROW = {
  data_source_key: 0,
  uid: 7n,
  item_id: 9n,
  req_time: 1_700_000_000n,
  actions: [1, 5],
  cid: 'news-17',
  label: Float32Array.of(0, 0.5),
  genres: BigInt64Array.of(11n, 12n),
  user: BigInt64Array.of(-1n),
};
const keeps = (config: TransformGiven, row: object = ROW) => transformOf(config)(row as never) !== undefined;

t.test('filters by ids: any of some, none of some, all of some', async (t) => {
  const by = (filterByFid: object) => keeps({ filterByFid } as TransformGiven);
  t.same([by({ hasFids: [12, 99] }), by({ hasFids: [99n] }), by({})], [true, false, true]);
  t.same([by({ filterFids: [99n] }), by({ filterFids: [11] })], [true, false]);
  t.same([by({ selectFids: [11, 12] }), by({ selectFids: [11, 99] })], [true, false]);
  t.ok(by({ hasFids: [2n ** 64n - 1n] }), 'ids are 64 bits without a sign');
  t.notOk(by({ hasFids: [7n] }), 'the line id has no ids of features');
});

t.test('filters by actions and labels', async (t) => {
  t.same(
    [[5], [2, 3]].map((hasActions) => keeps({ filterByAction: { hasActions } })),
    [true, false],
  );
  t.same(
    [[0.5, 0.5], [0.1, 0.6], [0]].map((thresholds) => keeps({ filterByLabel: { thresholds: thresholds as never } })),
    [true, false, true],
  );
  t.throws(() => keeps({ filterByLabel: { thresholds: [1, 2, 3] as never } }), {
    code: 'ML_DATASET',
    message: /Label size\(=2\) should be >= label_threshold size\(=3\)/,
  });
  t.throws(() => keeps({ filterByLabel: {} }), { code: 'ML_OPTION', message: /thresholds/ });
  t.throws(() => keeps({ filterByAction: { hasActions: [1] } }, { action: '1' }), {
    code: 'ML_COLUMN',
    hint: /action/,
  });
});

t.test('filters by the value of a column, with every op', async (t) => {
  const by = (fieldName: string, op: string, operand: unknown[], more: object = {}, row: object = ROW) =>
    keeps({ filterByValue: { fieldName, op, ...operandOf(operand), ...more } as never }, row);
  const table: [string, string, unknown[], boolean][] = [
    ['req_time', 'gt', [1_699_999_999n], true],
    ['req_time', 'ge', [1_700_000_000n], true],
    ['req_time', 'lt', [1_700_000_000n], false],
    ['req_time', 'le', [1_700_000_000n], true],
    ['req_time', 'eq', [1_700_000_000n], true],
    ['req_time', 'neq', [1_700_000_000n], false],
    ['req_time', 'between', [1_600_000_000n, 1_700_000_000n], false],
    ['req_time', 'between', [1_700_000_000n, 1_800_000_000n], true],
    ['uid', 'in', [1n, 7n], true],
    ['uid', 'not-in', [1n, 7n], false],
    ['actions', 'any', [5n, 6n], true],
    ['actions', 'all', [5n, 6n], false],
    ['actions', 'all', [5n, 1n], true],
    ['actions', 'diff', [6n], true],
    ['actions', 'diff', [5n], false],
    ['cid', 'startswith', ['news', 'video'], true],
    ['cid', 'endswith', ['-18'], false],
    ['cid', 'in', ['news-17'], true],
  ];
  for (const [name, op, operand, expected] of table) t.equal(by(name, op, operand), expected, `${name} ${op}`);
  t.same(
    [by('chnid', 'eq', [1n]), by('chnid', 'eq', [1n], { keepEmpty: true })],
    [false, true],
    'a field that is empty',
  );
  t.ok(by('price', 'ge', [3.5], {}, { price: '4' }), 'cells of text files are texts');
  t.ok(by('id', 'gt', [2n ** 53n], {}, { id: '9007199254740993' }), 'whole numbers are exact');
  const file = join(t.testdir({ 'ids.txt': '1\n7\n\n' }), 'ids.txt');
  t.ok(by('uid', 'in', [], { operandFilepath: file }));
  const refused: [string, string, unknown[], object, RegExp][] = [
    ['', 'eq', [1n], {}, /a column is needed/],
    ['uid', 'eqq', [1n], {}, /eqq is none of gt, ge, eq/],
    ['uid', 'eq', [], {}, /params error! eq takes 1, and there are 0/],
    ['uid', 'between', [1n], {}, /params error! between takes 2/],
    ['uid', 'in', [1n], { operandFilepath: file }, /beside the file/],
  ];
  for (const [name, op, operand, more, message] of refused) {
    t.throws(() => by(name, op, operand, more), { code: 'ML_OPTION', message });
  }
  t.throws(() => by('uid', 'in', [], { operandFilepath: 'none' }), { code: 'ML_DATASET', message: /none/ });
  t.throws(() => by('itemid', 'eq', [1n]), { code: 'ML_COLUMN', hint: /item_id/ });
});

function operandOf(operand: unknown[]): object {
  if (typeof operand[0] === 'string') return { stringOperand: operand };
  return typeof operand[0] === 'bigint' ? { intOperand: operand } : { floatOperand: operand };
}

t.test('labels of actions, by a text, by messages and by bytes', async (t) => {
  const labelOf = (change: ReturnType<typeof addLabel>, actions: number[], uid = 7n) =>
    change({ ...ROW, uid, actions })!.label;
  const text = addLabel('1,2:3:1;4::1;', { negativeValue: -1, newSampleRate: 0.5 });
  const conf = [{ posActions: [1, 2], negActions: [3] }, { posActions: [4] }];
  const bytes = addLabel(LABEL_CONF.encode({ conf }), { negativeValue: -1 });
  for (const change of [text, addLabel({ conf }, { negativeValue: -1 }), bytes]) {
    t.same(labelOf(change, [2]), Float32Array.of(1, -1));
    t.same(labelOf(change, [3, 4]), Float32Array.of(-1, 1));
    t.same(labelOf(change, [9]), Float32Array.of(INVALID_LABEL, -1), 'neither positive nor negative');
  }
  t.equal(text(ROW as never)!.sample_rate, 0.5);
  const half = addLabel('1::0.5');
  const drawn = Array.from({ length: 2000 }, (_, uid) => labelOf(half, [], BigInt(uid)));
  const kept = drawn.filter((label) => label === 0).length;
  t.ok(kept > 900 && kept < 1100, `${kept} of 2000 negatives`);
  t.same(
    Array.from({ length: 2000 }, (_, uid) => labelOf(half, [], BigInt(uid))),
    drawn,
    'the same in each pass',
  );
  for (const [config, message] of [
    ['', /no task/],
    ['1:2', /1:2 is no task/],
    ['a:2:1', /an action that is no number/],
    ['1:2:3', /a rate of 3/],
  ] as const) {
    t.throws(() => addLabel(config), { code: 'ML_OPTION', message });
  }
  t.throws(() => addLabel('1::1', { newSampleRate: 0 }), { message: /new_sample_rate should be in \(0\.0, 1\.0\]/ });
});

t.test('configs in order, one of two, and as bytes', async (t) => {
  const has = (...fids: number[]) => ({ filterByFid: { hasFids: fids.map(BigInt) as never } });
  const either = { logicalOrConfig: { x: has(99), y: has(11) } };
  t.ok(keeps(either));
  t.notOk(keeps([either, has(98)]));
  const config = { configs: [either, { basicConfig: { addLabel: { taskLabelConfigs: [{ posActions: [5] }] } } }] };
  for (const form of [config, TRANSFORM_CONFIG.encode(config as never)] as TransformGiven[]) {
    t.equal(transformOf(form)(ROW as never)!.label, 1);
  }
  const refused: [unknown, RegExp][] = [
    [5, /an object, a list or bytes/],
    [{}, /says none of filterByFid/],
    [{ ...has(1), filterByAction: {} }, /says filterByFid and filterByAction/],
    [{ logicalOrConfig: { x: has(1) } }, /has x and y/],
    [{ filterByFids: {} }, /filterByFids/],
  ];
  for (const [given, message] of refused) t.throws(() => transformOf(given as never), { code: 'ML_OPTION', message });
});

t.test('examples of a framed file are filtered and labelled as they are read', async (t) => {
  const file = join(t.testdir({}), 'examples');
  const example = (action: number, chnid?: bigint) =>
    frame(
      EXAMPLE.encode({
        lineId: { uid: BigInt(action), actions: [action], ...(chnid !== undefined && { chnid }) },
        label: Float32Array.of(0),
        namedFeature: [{ name: 'f', feature: { fidV2List: { value: BigInt64Array.of(BigInt(action)) } } }],
      } as never),
    );
  writeFileSync(file, Buffer.concat([example(1, 3n), example(2), example(4, 3n)]));
  const rows = Dataset.from(file, { format: 'framed', dataType: 'Example' })
    .transform({ filterByValue: { fieldName: 'chnid', op: 'eq', intOperand: [3n] as never } })
    .transform(addLabel('4::1'));
  const found: unknown[] = [];
  for await (const { uid, label } of rows) found.push([uid, label]);
  t.same(found, [
    [1n, 0],
    [4n, 1],
  ]);
});
