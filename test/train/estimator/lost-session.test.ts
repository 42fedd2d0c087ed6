/** @file A session that is lost in the midst of a training of an estimator is made again. */
import { join } from 'node:path';
import t from 'tap';
import { MonolithError } from '../../../src/base/errors.js';
import { setLogSink } from '../../../src/base/log.js';
import { LocalRows, type RowStore } from '../../../src/runtime/session/row-store.js';
import { treeOf } from '../../cli/run-cli.js';
import { tasteEstimator, tasteRows } from './tastes.js';

const ROWS = tasteRows(330); // 11 batches of 32, the last with 10 rows

/** Rows that are gone at some of the pulls. */
function breaking(at: (pull: number) => boolean): RowStore & { readonly pulls: number } {
  const local = new LocalRows();
  let pulls = 0;
  return {
    get pulls() {
      return pulls;
    },
    pull: (lease) => {
      if (at(++pulls)) throw new MonolithError('ML_ABORTED', { what: 'a pull', reason: 'the shard is gone' });
      return local.pull(lease);
    },
    push: (lease) => local.push(lease),
  };
}

t.before(() => {
  const before = setLogSink(() => undefined);
  t.teardown(() => setLogSink(before));
});

t.test('a training goes on from the newest checkpoint, to the bytes of one that lost nothing', async (t) => {
  const dir = t.testdir();
  for (const [number, limits] of [{ epochs: 3 }, { steps: 33 }].entries()) {
    const train = async (name: string, lostAt: readonly number[]) => {
      const modelDir = join(dir, `${name}${number}`);
      const rows = breaking((pull) => lostAt.includes(pull));
      const options = { modelDir, deterministic: true, saveEverySteps: 5, prefetch: 1, session: { rows } };
      await using estimator = tasteEstimator(options);
      t.match(await estimator.train(ROWS, limits), { step: 33, startStep: 0, examples: 990 });
      return Object.fromEntries(Object.entries(treeOf(modelDir)).filter(([file]) => file.startsWith('model.ckpt-33.')));
    };
    t.same(await train('lost', [3, 19, 22]), await train('whole', []), JSON.stringify(limits));
  }
});

t.test('a session that is lost over and over ends the training with its error', async (t) => {
  const rows = breaking((pull) => pull > 7);
  await using estimator = tasteEstimator({ session: { rows } });
  await t.rejects(estimator.train(ROWS, { epochs: 3 }), { code: 'ML_ABORTED' });
  t.equal(rows.pulls, 11, 'four sessions, of which three got no further');
});

t.test('data that can be read only once is not begun again', async (t) => {
  const rows = breaking((pull) => pull === 4);
  await using estimator = tasteEstimator({ session: { rows } });
  await t.rejects(estimator.train(ROWS.values(), { epochs: 1 }), { code: 'ML_ABORTED' });
  t.equal(rows.pulls, 4);
});
