/**
 * @file Classes that are fed and do not exist: refused before the step, with op, row and value; the session goes on.
 */
import t from 'tap';
import * as ml from '../../src/index.js';
import { BACKENDS, withSession } from './with-session.js';

const CASES = [
  ['a class above the last', [0, 2, 3, 1], 2, 3],
  ['a class below the first', [-1, 0, 0, 0], 0, -1],
  ['a class between two', [0, 1, 1, 0.5], 3, 0.5],
  ['no number', [0, Number.NaN, 0, 0], 1, Number.NaN],
] as const;

for (const backend of BACKENDS) {
  for (const part of ['feed', 'column of a feed', 'feed under stopGradient']) {
    t.test(`a class that does not exist is refused, of a ${part} on ${backend}`, async (t) => {
      const graph = new ml.Graph();
      const x = ml.ops.placeholder(graph, { name: 'x', width: 2 });
      const fed = ml.ops.placeholder(graph, { name: 'label', width: part === 'column of a feed' ? 2 : 1 });
      const label =
        part === 'feed' ? fed : ml.ops.stopGradient(part === 'column of a feed' ? ml.ops.columns(fed, 1, 2) : fed);
      const logits = new ml.nn.DenseLayer(3).call(x);
      const loss = ml.ops.reduceMean(ml.losses.sparseSoftmaxCrossEntropyWithLogits(logits, label, { name: 'my_loss' }));
      const train = ml.optim.sgd({ learningRate: 0.1 }).minimize(loss);
      await withSession(graph, { backend, batchSize: 4, threads: 2 }, async (session) => {
        const feeds = (classes: readonly number[]) => ({
          x: new Float32Array(8).fill(1),
          label: Float32Array.from(part === 'column of a feed' ? classes.flatMap((one) => [9, one]) : classes),
        });
        for (const [what, classes, row, value] of CASES) {
          await t.rejects(session.run([loss, train], feeds(classes)), { code: 'ML_FEED' }, what);
          const message = await session.run([loss, train], feeds(classes)).catch(String);
          t.match(message, new RegExp(`label .*row ${row} has the class ${value}, and my_loss has the classes 0 to 2`));
        }
        const [good] = await session.run([loss, train], feeds([0, 1, 2, 0]));
        t.ok(Number.isFinite(good), 'the session goes on');
        await session.run([logits], { x: new Float32Array(8).fill(1), label: feeds([9, 9, 9, 9]).label });
      });
    });
  }
}
