/** @file Running mean and variance of numbers: what they are, when they move, and that the checkpoint has them. */
import t from 'tap';
import { restoreSession } from '../../src/checkpoint/restore-session.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { encodeRows } from '../../src/data/encode-rows.js';
import { f } from '../../src/data/fields.js';
import { defineSchema } from '../../src/data/schema.js';
import type { Tensor } from '../../src/graph/graph.js';
import type { Mode } from '../../src/graph/mode.js';
import { concatColumns } from '../../src/graph/ops/columns.js';
import { dense as denseLayer } from '../../src/layers/dense-layer.js';
import { defineModel } from '../../src/train/define-model.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';

const schema = defineSchema({
  price: f.number(),
  size: f.number({ width: 2 }),
  raw: f.number({ standardise: false }),
  click: f.label(),
});

/** The model, and its numbers as it sees them. */
function build<M extends Mode>(mode: M) {
  const seen: Tensor[] = [];
  const model = defineModel(schema, { name: 'm' }, ({ price, size, raw }, m) => {
    seen.push(price, size, raw);
    return m.binary(denseLayer(concatColumns([price, size, raw]), 1));
  });
  return { model: model.build(mode), seen };
}

const prices = [3, 5, null, 10, 2, 8, 1e6, null, 4, 6];
const batchOf = (list: readonly (number | null)[]) =>
  encodeRows(
    schema,
    list.map((price, index) => ({ price, size: [index, 2], raw: price, click: 0 })),
  ).feeds;

const round = (value: number) => Math.round(value * 1e4) / 1e4;

for (const backend of BACKENDS) {
  t.test(`they are those of all examples so far, missing ones left out, ${backend}`, async (t) => {
    const dir = t.testdir();
    const { model, seen } = build('train');
    const [first, second] = [batchOf(prices.slice(0, 4)), batchOf(prices.slice(4, 6))];
    const wanted = await withSession(model.graph, { schema, backend, batchSize: 10 }, async (session) => {
      t.same(
        await session.run([seen[0]!], first, { mode: 'eval' }).then(([x]) => [...(x as Float32Array)].map(round)),
        [3, 5, 0, 10],
        'before training they are what they are',
      );
      const [now] = await session.run([seen[0]!, model.trainOp], first);
      const deviation = Math.sqrt(26 / 3);
      t.same(
        [...(now as Float32Array)].map(round),
        [-3 / deviation, -1 / deviation, 0, 4 / deviation].map(round),
        'a step knows its batch',
      );
      await session.run([model.trainOp], second);
      const all = prices.slice(0, 6).filter((price) => price !== null);
      const mean = all.reduce((sum, x) => sum + x, 0) / all.length;
      const variance = all.reduce((sum, x) => sum + (x - mean) ** 2, 0) / all.length;
      const read = (name: string) => [...(session.readVariable(`numbers/${name}`) as Float32Array)].map(round);
      t.same(read('count'), [5, 6, 6]);
      t.equal(read('mean')[0], round(mean));
      t.equal(read('variance')[0], round(variance));
      t.same([read('mean')[2], read('variance')[2]], [2, 0], 'a constant');
      const evaluated = await session.run(seen, batchOf(prices), { mode: 'eval' });
      const [price, size, raw] = evaluated.map((value) => [...(value as Float32Array)]) as [
        number[],
        number[],
        number[],
      ];
      t.same(
        price.map(round),
        prices.map((x) => round(x === null ? 0 : Math.min((x - mean) / Math.sqrt(variance), 10))),
      );
      t.same(
        size.filter((_, at) => at % 2 === 1),
        prices.map(() => 0),
      );
      t.same(
        raw,
        prices.map((x) => x ?? 0),
      );
      t.same(read('count'), [5, 6, 6], 'an evaluation moves nothing');
      await saveCheckpoint(dir, snapshotSession(session, 'm'));
      return evaluated;
    });
    const other = build('predict');
    await withSession(other.model.graph, { schema, backend, batchSize: 10 }, async (session) => {
      await restoreSession(session, dir, { mode: 'subset' });
      t.same(await session.run(other.seen, batchOf(prices)), wanted, 'the checkpoint has them');
    });
  });
}
