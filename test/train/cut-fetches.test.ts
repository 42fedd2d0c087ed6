/** @file Training with rows that are read ahead, by steps that do not all fetch the same. */
import t from 'tap';
import { LocalRows, type RowStore } from '../../src/runtime/session/row-store.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import type { ModelSpec } from '../../src/train/model-spec.js';
import { trainFfm } from './ffm-run.js';

const local = new LocalRows();
/** What is no LocalRows is called in every step. */
const called: RowStore = { pull: (lease) => local.pull(lease), push: (lease) => local.push(lease) };

t.test('what is fetched, and when, changes nothing of what is learnt', async (t) => {
  const asks = (model: ModelSpec): TrainHook[] => [
    { beforeRun: ({ globalStep }) => (globalStep % 3 === 1 ? [model.pred] : []) },
    { beforeRun: ({ globalStep }) => (globalStep % 5 > 2 ? [model.label!] : []) },
  ];
  for (const [options, stores] of [
    [{ prefetch: 1 }, [undefined, called, { ...called, owners: 3 }]],
    [{ prefetch: 3, postpush: true }, [undefined, called]],
    [{ prefetch: 2, backend: 'reference', threads: 2 }, [undefined]],
    [{ prefetch: 2, tableBytes: 12 << 20, bankBytes: (4 << 20) + 65536 }, [undefined]],
  ] as const) {
    for (const rows of stores) {
      const session = { deterministic: true, ...options, ...(rows && { rows }) };
      const quiet = await trainFfm({ steps: 20, session });
      t.same(await trainFfm({ steps: 20, session, hooks: asks }), quiet, JSON.stringify(options));
    }
  }
});
