import t from 'tap';
import { Graph } from '../../src/graph/graph.js';
import { raggedPlaceholder } from '../../src/graph/ops/state.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { optimizerNameOf } from '../../src/sparse/config/optimizer-plan.js';
import * as optimizers from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { raggedOf, withSession } from '../runtime/with-session.js';
import { ALL_OPTIMIZERS, DEVICE, HOST, type Model, model, trained } from './device-table-model.js';
import { withSimulated } from './simulated.js';

t.test(
  'a table that has no more room is refused with the sizes, and one that the device does not hold too',
  withSimulated(async (t, driver) => {
    const { freeBytes } = driver.memory();
    const segments = [{ dim: 6, optimizer: ALL_OPTIMIZERS.sgd! }];
    await t.rejects(trained(model(segments), { ...HOST, useGpuEmbTable: { rows: 20 } }), {
      code: 'ML_GPU_TABLE_FULL',
      message: /table t has \d+ rows on the device and may need \d+ more: there is room for 20 of 32 bytes/,
    });
    driver.simulator.configure({ memoryBytes: 1 << 20 });
    await t.rejects(trained(model(segments), { ...HOST, useGpuEmbTable: { rows: 1 << 20 } }), {
      code: 'ML_CUDA_MEMORY',
      message: /table t does not fit: 1048576 rows of 32 bytes and their index take \d+ bytes/,
    });
    driver.simulator.configure({ memoryBytes: 2 ** 33 });
    t.equal(driver.memory().freeBytes, freeBytes, 'nothing is left behind');
    await t.rejects(trained(model(segments), { ...HOST, useGpuEmbTable: { rows: 0 } }), { code: 'ML_FLAG' });
  }),
);

t.test('backends without tables on a device refuse them', async (t) => {
  const { graph } = model([{ dim: 2 }]);
  for (const backend of ['wasm', 'reference'] as const) {
    await t.rejects(
      withSession(graph, { backend, useGpuEmbTable: true }, async () => {}),
      { code: 'ML_GPU_TABLE', message: new RegExp(`this is ${backend}`), hint: /--backend cuda/ },
    );
  }
});

t.test(
  'what the device cannot do of a table is said, not left out',
  withSimulated(async (t) => {
    const refused = async (made: Model, reason: RegExp, options: Partial<SessionOptions> = {}) => {
      await t.rejects(trained(made, { ...DEVICE, ...options }, 1), {
        code: 'ML_GPU_TABLE',
        message: reason,
        hint: /./,
      });
    };
    const sgd = optimizers.SgdOptimizer();
    await refused(model([{ dim: 1, optimizer: optimizers.BatchSoftmaxOptimizer() }]), /batchSoftmax/);
    for (const optimizer of [sgd, ALL_OPTIMIZERS.adam!]) {
      const rounded = model([{ dim: 2, optimizer: optimizers.withStochasticRounding(optimizer) }]);
      await refused(rounded, new RegExp(`${optimizerNameOf(optimizer)} .*stochasticRoundingFloat16`));
    }
    await refused(model([{ dim: 2, optimizer: sgd, compressor: optimizers.FixedR8Compressor() }]), /fixedR8/);
    await refused(model([{ dim: 2, optimizer: sgd, compressor: optimizers.OneBitCompressor() }]), /oneBit/);
    await refused(model([{ dim: 2 }], { entryType: 'serving' }), /serving/);
    await refused(model([{ dim: 2 }]), /evict-expired/, { tablePolicy: { whenFull: 'evict-expired' } });
    const banks = { memoryBytes: 16 << 20, tableBytes: 12 << 20, bankBytes: (4 << 20) + 65536 };
    await refused(model([{ dim: 2 }]), /memories of their own/, banks);
    const filtered = model([{ dim: 2 }]);
    const thresholds = { slotOccurrenceThresholds: [{ slot: 1, occurrenceThreshold: 2 }] };
    Object.assign(filtered.config, { admission: { thresholds, capacity: 100 } });
    await refused(filtered, /admission filter/);
    const graph = new Graph();
    const config = defineTable('t', [{ dim: 2 }]);
    const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 4 });
    const lookup = graph.device('/device:CPU:0', () => embeddingLookup(ids, config));
    await withSession(graph, DEVICE, async (session) => {
      const feeds = { ids: raggedOf([[1n]]) };
      await t.rejects(session.run([lookup], feeds), { code: 'ML_GPU_TABLE', message: /run on the host/ });
    });
  }),
);
