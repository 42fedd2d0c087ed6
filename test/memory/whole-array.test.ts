import { Worker } from 'node:worker_threads';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { schemaProblem, writeBatch } from '../../src/memory/batch.js';
import { Views } from '../../src/memory/views.js';
import { isDetached, withFixedLength } from '../../src/memory/whole-array.js';

t.test('an array whose memory was moved away is told from an empty one', async (t) => {
  const array = new Float32Array(3);
  t.notOk(isDetached(array));
  t.notOk(isDetached(new Float32Array(0)));
  structuredClone(array.buffer, { transfer: [array.buffer] });
  t.ok(isDetached(array));
});

t.test('an array over memory that grows keeps the length it had', async (t) => {
  type Growing = SharedArrayBuffer & { grow(bytes: number): void };
  const Buffer = SharedArrayBuffer as unknown as new (bytes: number, options: { maxByteLength: number }) => Growing;
  const buffer = new Buffer(8, { maxByteLength: 64 });
  const array = new Int32Array(buffer);
  const fixed = withFixedLength(array);
  buffer.grow(64);
  t.equal(array.length, 16);
  t.equal(fixed.length, 2);
  const plain = new Int32Array(2);
  t.equal(withFixedLength(plain), plain, 'others stay as they are');
});

t.test('splits that another thread changes meanwhile are checked as they were copied', async (t) => {
  const rows = 2000;
  const splits = new Int32Array(new SharedArrayBuffer(4 * (rows + 1)));
  splits.forEach((_, row) => {
    splits[row] = row;
  });
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const source = `
    const { workerData: { splits, stop }, parentPort } = require('node:worker_threads');
    parentPort.postMessage('ready');
    for (let i = 0; Atomics.load(stop, 0) === 0; i++) Atomics.store(splits, 1000, i % 2 ? 1000 : 1 << 30);`;
  const worker = new Worker(source, { eval: true, execArgv: [], workerData: { splits, stop } });
  t.teardown(() => worker.terminate());
  await new Promise((resolve) => worker.once('message', resolve));
  const memory = new WebAssembly.Memory({ initial: 4, maximum: 4, shared: true });
  const views = new Views(memory.buffer);
  const values = new BigInt64Array(rows);
  const schema = [{ name: 'ids', kind: 'ragged' }] as const;
  let [written, refused, bad] = [0, 0, 0];
  for (let attempt = 0; attempt < 20_000; attempt++) {
    try {
      writeBatch(views, 64, schema, { rows, feeds: [{ kind: 'ragged', splits, values }] });
      written++;
      const copy = views.u32[64 / 4 + 2]! / 4;
      if (views.i32[copy + 1000] !== 1000) bad++;
    } catch (error) {
      if (!(error instanceof MonolithError && error.code === 'ML_FEED')) throw error;
      refused++;
    }
  }
  Atomics.store(stop, 0, 1);
  t.equal(bad, 0, `of ${written} written, ${refused} refused`);
});

t.test('a schema says what is wrong with it', async (t) => {
  t.equal(schemaProblem([]), null);
  t.equal(
    schemaProblem([
      { name: 'x', kind: 'dense', width: 1 },
      { name: 'y', kind: 'ragged' },
    ]),
    null,
  );
  const cases: [unknown, RegExp][] = [
    [undefined, /there is none/],
    [null, /there is none/],
    ['abc', /not a list/],
    [[null], /feed 0 has no name/],
    [[{ name: 'x', kind: 'wide' }], /feed x is wide/],
    [[{ name: 'x', kind: 'dense' }], /width undefined/],
    [[{ name: 'x', kind: 'ids', width: 0.5 }], /width 0.5/],
    [
      [
        { name: 'x', kind: 'ragged' },
        { name: 'x', kind: 'ragged' },
      ],
      /two feeds/,
    ],
  ];
  for (const [schema, problem] of cases) t.match(schemaProblem(schema), problem);
});
