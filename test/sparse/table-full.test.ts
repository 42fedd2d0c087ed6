import t, { type Test as T } from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph } from '../../src/graph/graph.js';
import { placeholder, raggedPlaceholder } from '../../src/graph/ops/state.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { BACKENDS, raggedOf, withSession } from '../runtime/with-session.js';

const DIM = 64;
const DAY = 86400;
const segments = [{ dim: DIM, initializer: ZerosInitializer(), optimizer: SgdOptimizer(), learningRate: 1 }];
const idsFrom = (first: number, count: number) => BigInt64Array.from({ length: count }, (_, i) => BigInt(first + i));
const minusOnes = (count: number) => new Float32Array(count * DIM).fill(-1);

const tight = async (whenFull: 'fail' | 'evict-expired' | 'stop-admitting', banks: number) => {
  const memory = await TableMemory.create({ budgetBytes: 2 << 20, bankBytes: (2 << 20) / banks + 65536 });
  t.equal(memory.banks.length, banks);
  return HashTable.create(memory, defineTable('t', segments, { defaultExpireTime: 1 }), { whenFull });
};

for (const banks of [1, 2]) {
  t.test(`calls of a full table fail, evict or pass over, as it was told (${banks} banks)`, async (t) => {
    const failing = await tight('fail', banks);
    t.throws(() => failing.assign(idsFrom(0, 20000), minusOnes(20000)), { code: 'ML_MEMORY', message: /table t with/ });
    const fits = failing.size;
    t.ok(fits > 1000, 'what came before stays');

    const stopping = await tight('stop-admitting', banks);
    stopping.assign(idsFrom(0, 500), minusOnes(500), { timeSec: 5 });
    stopping.optimize(idsFrom(0, 20000), minusOnes(20000));
    t.ok(stopping.size > 1000);
    t.equal(stopping.passedOver, 20000 - stopping.size);
    t.strictSame(stopping.lookup(idsFrom(499, 1)), new Float32Array(DIM), 'rows that are there are updated');
    const size = stopping.size;
    stopping.optimize(idsFrom(0, 500), minusOnes(500));
    t.equal(stopping.lookup(idsFrom(0, 1))[0], 1);
    t.equal(stopping.size, size);

    const evicting = await tight('evict-expired', banks);
    evicting.assign(idsFrom(0, 1000), minusOnes(1000), { timeSec: 10 });
    evicting.assign(idsFrom(1000, 1000), minusOnes(1000), { timeSec: 5 * DAY });
    // One by one: the first id that finds no room is the first that makes some.
    for (let id = 2000; id < 2000 + fits && evicting.contains(idsFrom(0, 1))[0] === 1; id++) {
      evicting.assign(idsFrom(id, 1), minusOnes(1), { timeSec: 5 * DAY });
    }
    t.ok(
      evicting.contains(idsFrom(0, 1000)).every((has) => has === 0),
      'the expired made room',
    );
    t.ok(evicting.contains(idsFrom(1000, 1000)).every((has) => has === 1));
    const more = () => evicting.assign(idsFrom(9000, 20000), minusOnes(20000), { timeSec: 5 * DAY });
    t.throws(more, { code: 'ML_MEMORY' }, 'nothing is left to go');
  });
}

/** Trains on ids 0, 1, 2, … until there have been many more than fit, with ids 0 to 9 in every batch. */
async function grown(options: Partial<SessionOptions>, t: T, perRow = 300, seen: { oldest?: Uint8Array } = {}) {
  const graph = new Graph();
  const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 400 });
  const config = defineTable('big', segments, { defaultExpireTime: 1 });
  const looked = embeddingLookup(ids, config);
  const seed = placeholder(graph, { name: 'seed', width: DIM });
  const updates = applyEmbeddingGradients([[gradients([looked], [looked], { gradYs: [seed] })[0]!, looked]]);
  return withSession(graph, { batchSize: 2, ...options }, async (session) => {
    const table = HashTable.of(session, config);
    table.assign(idsFrom(-500, 500), minusOnes(500), { timeSec: 100 });
    table.assign(idsFrom(0, 10), new Float32Array(10 * DIM), { timeSec: 3 * DAY });
    const steps = 3600 / perRow;
    for (let step = 0; step < steps; step++) {
      const row = (r: number) => [...idsFrom(0, 10), ...idsFrom(1000 + (step * 2 + r) * perRow, perRow)];
      seen.oldest = table.contains(idsFrom(-500, 500));
      await session.run([...updates], { ids: raggedOf([row(0), row(1)]), seed: minusOnes(2) });
    }
    t.strictSame(table.lookup(idsFrom(0, 10)), new Float32Array(10 * DIM).fill(2 * steps), 'known ids learn on');
    return { size: table.size, passedOver: table.passedOver };
  });
}

for (const backend of BACKENDS) {
  for (const threads of [1, 2]) {
    const title = `${backend}, ${threads} threads`;
    // Rows for about 5000 ids; banks of their own, and the session's memory.
    for (const memory of [{ tableBytes: 2 << 20 }, { memoryBytes: 3 << 20, tableBytes: 3 << 20, bankBytes: 2 << 20 }]) {
      t.test(`steps pass over new ids of a full table (${title}, ${JSON.stringify(memory)})`, async (t) => {
        const options = { backend, threads, ...memory, tablePolicy: { whenFull: 'stop-admitting' } } as const;
        const { size, passedOver } = await grown(options, t);
        t.ok(size > 1000, `${size} rows`);
        t.equal(size + passedOver, 510 + 7200);
      });
    }
  }
  t.test(`steps remove what is expired from a full table (${backend})`, async (t) => {
    const seen: { oldest?: Uint8Array } = {};
    const options = { backend, threads: 2, tableBytes: 2 << 20, tablePolicy: { whenFull: 'evict-expired' } } as const;
    await t.rejects(grown(options, t, 10, seen), { code: 'ML_MEMORY' }, 'when nothing is left to go');
    t.ok(seen.oldest!.filter((has) => has === 0).length > 5, 'expired rows went first');
  });
}
