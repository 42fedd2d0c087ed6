/** @file Numbers in pieces: what a model sees of them, and that it learns bends that a number alone has not. */
import t from 'tap';
import { encodeRows } from '../../src/data/encode-rows.js';
import { f } from '../../src/data/fields.js';
import { defineSchema } from '../../src/data/schema.js';
import type { Tensor } from '../../src/graph/graph.js';
import { concatColumns } from '../../src/graph/ops/columns.js';
import { portableSchema, readSchema } from '../../src/portable/portable-schema.js';
import { defineModel } from '../../src/train/define-model.js';
import { Estimator } from '../../src/train/estimator/estimator.js';
import { lr } from '../../src/zoo/lr.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';

const schema = defineSchema({
  age: f.number({ standardise: false, default: -1, edges: [0, 10, 20, 40] }),
  plain: f.number(),
  pay: f.number({ edges: [1e6, 1e6 + 1, 1e6 + 2] }),
  click: f.label(),
});

for (const backend of BACKENDS) {
  t.test(`a number, how much of each piece lies below it, whether it is missing, ${backend}`, async (t) => {
    const seen: Tensor[] = [];
    const model = defineModel(schema, { name: 'm' }, ({ age, plain, pay }, m) => {
      seen.push(age, plain, pay);
      return m.binary(concatColumns([age]).columns === 5 ? plain : age);
    });
    const { graph } = model.build('eval');
    const rows = [
      { age: 5, pay: 1e6 + 1.5 },
      { age: 30, pay: 1e6 },
      { age: -7, pay: 5 },
      { age: 1e9, pay: 1e30 },
      { age: null, pay: null },
    ].map((row) => ({ ...row, plain: 1, click: 0 }));
    await withSession(graph, { schema, backend, batchSize: 8 }, async (session) => {
      const [age, plain, pay] = (await session.run(seen, encodeRows(schema, rows).feeds)) as Float32Array[];
      t.same(
        [...age!],
        [
          ...[5, 0.5, 0, 0, 0],
          ...[30, 1, 1, 0.5, 0],
          ...[-7, 0, 0, 0, 0],
          ...[1e9, 1, 1, 1, 0],
          // With a default it is that number, and not missing.
          ...[-1, 0, 0, 0, 0],
        ],
      );
      t.equal(plain!.length, rows.length, 'one without edges is as it was');
      const pieces = [...pay!].filter((_, at) => at % 4 !== 0);
      t.same(pieces, [1, 0.5, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1], 'fine steps far from 0; missing is told');
    });
  });
}

t.test('a linear model learns what rises and falls', async (t) => {
  const rows = Array.from({ length: 2000 }, (_, index) => {
    const x = ((index * 37) % 100) / 10;
    return { x, click: x > 3 && x < 7 ? 1 : 0 };
  });
  const aucOf = async (edges: readonly number[] | undefined) => {
    const bent = defineSchema({ x: f.number(edges === undefined ? {} : { edges }), click: f.label() });
    const estimator = new Estimator(lr(bent), { threads: 1, seed: 1 });
    try {
      await estimator.train(rows, { epochs: 3, batchSize: 50 });
      return (await estimator.evaluate(rows)).metrics.auc!;
    } finally {
      await estimator.close();
    }
  };
  const [straight, inPieces] = [await aucOf(undefined), await aucOf([0, 2, 3, 4, 6, 7, 8, 10])];
  t.ok(straight < 0.7, `a line says nothing of it: ${straight}`);
  t.ok(inPieces > 0.97, `pieces do: ${inPieces}`);
});

t.test('edges are two numbers or more that rise, of one number', async (t) => {
  for (const edges of [
    [],
    [1],
    [2, 1],
    [1, 1],
    [0, Number.NaN],
    [0, Infinity],
    [16777216, 16777217],
    [0, 1e-42],
    'ab',
  ]) {
    t.throws(() => f.number({ edges: edges as never }), { code: 'ML_OPTION', fields: { option: 'edges' } });
  }
  t.throws(() => f.number({ width: 2, edges: [0, 1] }), { code: 'ML_OPTION', message: /one number/ });
});

t.test('a schema as data has the edges', async (t) => {
  const again = readSchema(JSON.parse(JSON.stringify(portableSchema(schema.features))));
  t.match(again.features.age!.field, { role: 'number', standardise: false, fallback: -1, edges: [0, 10, 20, 40] });
});
