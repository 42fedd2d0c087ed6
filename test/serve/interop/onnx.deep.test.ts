/** @file onnxruntime computes what sessions do, of models that were exported to ONNX: op by op, and a trained one. */
import { join } from 'node:path';
import t from 'tap';
import { exportOnnx } from '../../../src/serve/onnx/export-onnx.js';
import { missing } from '../../requirement.js';
import { purchases, trainedEstimator } from '../shops.js';
import { BATCH, everyOpModel, feeds, idsOf, worstOf, X_WIDTH } from './exportable.js';
import { getOnnxRuntime, type Ort } from './onnxruntime.js';
import { encodedPurchases } from './purchase-feeds.js';

const BOUND = 1e-5;
const runtime = await getOnnxRuntime();
if (typeof runtime === 'string') t.plan(0, missing('onnx', runtime));
else tests(runtime);

/** Ids side by side, with -1 after the last of each. */
function padded(lists: readonly (readonly bigint[])[]): { data: BigInt64Array; dims: number[] } {
  const most = Math.max(1, ...lists.map(({ length }) => length));
  const data = new BigInt64Array(lists.length * most).fill(-1n);
  for (const [row, ids] of lists.entries()) data.set(BigInt64Array.from(ids), row * most);
  return { data, dims: [lists.length, most] };
}

function tests({ InferenceSession, Tensor }: Ort): void {
  const int64 = ({ data, dims }: { data: BigInt64Array; dims: number[] }) => new Tensor('int64', data, dims);

  t.test('onnxruntime computes every op as sessions do', async (t) => {
    const dir = t.testdir();
    const { model, expected } = await everyOpModel();
    await exportOnnx(model, dir);
    const session = await InferenceSession.create(join(dir, 'model.onnx'));
    t.teardown(() => session.release());
    t.same(session.inputNames, ['x', 'ids', 'time']);
    const lists = Array.from({ length: BATCH }, (_, row) => idsOf(row));
    const found = await session.run({
      x: new Tensor('float32', feeds.x, [BATCH, X_WIDTH]),
      ids: int64(padded(lists)),
      time: int64({ data: feeds.time, dims: [BATCH, 1] }),
    });
    for (const [name, values] of expected)
      t.ok(worstOf(found[name]!.data, values) < BOUND, `${name}: ${worstOf(found[name]!.data, values)}`);
  });

  t.test('onnxruntime predicts what the estimator does', async (t) => {
    const dir = t.testdir();
    const estimator = await trainedEstimator(join(dir, 'run'));
    t.teardown(() => estimator.close());
    const rows = purchases(100, 7000);
    const expected: number[] = [];
    for await (const { prediction } of estimator.predict(rows)) expected.push(prediction as number);
    const folder = await estimator.export(join(dir, 'export'), { formats: ['onnx'] });
    const session = await InferenceSession.create(join(folder, 'model.onnx'));
    t.teardown(() => session.release());
    const { dense, ids, ragged } = encodedPurchases(rows);
    const given = {
      ...Object.fromEntries(Object.entries(dense).map(([name, data]) => [name, new Tensor('float32', data, [100, 1])])),
      ...Object.fromEntries(Object.entries(ids).map(([name, data]) => [name, int64({ data, dims: [100, 1] })])),
      ...Object.fromEntries(Object.entries(ragged).map(([name, lists]) => [name, int64(padded(lists))])),
    };
    const found = await session.run(Object.fromEntries(session.inputNames.map((name) => [name, given[name]])));
    t.ok(worstOf(found.output!.data, Float32Array.from(expected)) < BOUND);
  });
}
