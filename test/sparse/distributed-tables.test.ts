import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { KernelOps } from '../../src/runtime/backends/wasm/kernel-ops.js';
import { LocalAllToAll } from '../../src/sparse/many/all-to-all.js';
import { DistributedHashTable } from '../../src/sparse/many/distributed-hash-table.js';
import { DistributedMultiTypeHashTable } from '../../src/sparse/many/distributed-multi-type-hash-table.js';
import { DistributedMultiTypeHashTableMpi } from '../../src/sparse/many/distributed-multi-type-hash-table-mpi.js';
import { fusedApplyGradient, fusedLookup } from '../../src/sparse/many/fused-lookup.js';
import { MultiTypeHashTable } from '../../src/sparse/many/multi-type-hash-table.js';
import { PLAIN_ROUTING } from '../../src/sparse/many/routed-ids.js';
import { shardOfId } from '../../src/tensor/ops/reorder-by-indices.js';
import { KernelHarness } from '../kernels/harness.js';
import { copyOf, DIMS, idsOf, modelTable, modelTables, plain, SLOTS, updates, valuesOf } from './multi-fixture.js';

const harness = await KernelHarness.create(8 << 20);
const kernelOps = new KernelOps({
  kernels: harness.wasm,
  memory: harness.memory,
  arena: harness.arena,
  maxUniqueIds: 256,
});
const serverCount = fc.integer({ min: 1, max: 4 });
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

t.test('a table over servers is the table whose gradients are summed per id', async () => {
  fc.assert(
    fc.property(updates, updates, updates, serverCount, fc.boolean(), (assigned, added, given, servers, kernels) => {
      harness.scope(() => {
        const ops = kernels ? kernelOps : PLAIN_ROUTING;
        const spread = new DistributedHashTable(
          't',
          times(servers, () => modelTable('t', 3)),
          ops,
        );
        const whole = modelTable('t', 3);
        const { ids, values } = given.slot1 ?? { ids: new BigInt64Array(0), values: new Float32Array(0) };
        for (const table of [spread, whole]) {
          if (assigned.slot1) table.assign(assigned.slot1.ids, assigned.slot1.values);
          if (added.other) table.assignAdd(added.other.ids, added.other.values);
          table.optimize(ids, values.slice(), { enableDedup: true, globalStep: 1 });
        }
        assert.deepEqual([...spread.lookup(ids)], [...whole.lookup(ids)]);
        const unsigned = new BigUint64Array(ids.buffer, ids.byteOffset, ids.length);
        assert.deepEqual([...spread.lookup(unsigned, new Float32Array(values.length))], [...whole.lookup(ids)]);
        assert.deepEqual(spread.contains(ids), whole.contains(ids));
        assert.deepEqual(spread.lookupEntry(ids), whole.lookupEntry(ids));
        assert.equal(spread.size, whole.size);
        for (const [s, server] of spread.servers.entries()) {
          const own = ids.filter((id) => shardOfId(id, servers) === s);
          assert.ok(server.contains(own).every((found) => found === 1));
        }
        assert.deepEqual(spread.reinitialize(ids), whole.reinitialize(ids));
        assert.equal(spread.evict(36500 * 86400), whole.evict(36500 * 86400));
        spread.clear();
        assert.equal(spread.size, 0);
      });
    }),
  );
});

t.test('tables over servers need rows of one width, and values for every id', async (t) => {
  t.throws(() => new DistributedHashTable('t', []), { code: 'ML_OP' });
  t.throws(() => new DistributedHashTable('t', [modelTable('t', 1), modelTable('t', 2)]), { code: 'ML_OP' });
  const table = new DistributedHashTable('t', [modelTable('t', 2)]);
  const ids = BigInt64Array.of(1n);
  t.throws(() => table.assign(ids, new Float32Array(1)), { code: 'ML_TABLE_DIM' });
  t.throws(() => table.optimize(ids, new Float32Array(3)), { code: 'ML_TABLE_DIM' });
  t.throws(() => table.lookup(['1'] as never), { code: 'ML_IDS' });
  const [one, other] = [new MultiTypeHashTable({ a: modelTable('a', 1) }), new MultiTypeHashTable({})];
  t.throws(() => new DistributedMultiTypeHashTable([one, other]), { code: 'ML_OP' });
});

t.test('tables of several slots over servers are the tables of the slots', async () => {
  fc.assert(
    fc.property(updates, updates, serverCount, (added, gradients, servers) => {
      const spread = new DistributedMultiTypeHashTable(times(servers, () => new MultiTypeHashTable(modelTables())));
      const whole = new MultiTypeHashTable(modelTables());
      const learningRates = [0.1, 0.2, 0.3];
      for (const table of [spread, whole]) {
        table.assign(added);
        table.assignAdd(added);
        table.applyGradients(copyOf(gradients), { enableDedup: true, learningRates });
      }
      const asked = idsOf(gradients);
      assert.deepEqual(plain(spread.lookup(asked)), plain(whole.lookup(asked)));
      assert.deepEqual(spread.tableDimSizes, DIMS);
      if (asked.slot0)
        assert.deepEqual(spread.reinitialize('slot0', asked.slot0), whole.reinitialize('slot0', asked.slot0));
    }),
  );
});

t.test('a fused call is its cells one by one, shard by shard', async () => {
  const shards = fc.array(updates, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(updates, shards, fc.boolean(), (assigned, given, enableDedup) => {
      const fused = new MultiTypeHashTable(modelTables());
      const plainly = new MultiTypeHashTable(modelTables());
      fused.assign(assigned);
      plainly.assign(assigned);
      const cells = given.flatMap((shard) =>
        fused.tables.names.map((name) => shard[name] ?? { ids: new BigInt64Array(0), values: new Float32Array(0) }),
      );
      const request = {
        ids: BigInt64Array.from(cells.flatMap(({ ids }) => [...ids])),
        fusedSlotSize: cells.map(({ ids }) => ids.length),
        numOfShards: given.length,
      };
      const gradients = Float32Array.from(cells.flatMap(({ values }) => [...values]));
      fused.fusedApplyGradient({ ...request, gradients }, { enableDedup });
      for (const shard of given) plainly.applyGradients(copyOf(shard), { enableDedup });
      const found = fused.fusedLookup(request);
      const rows = given.map((shard) => {
        const all = Object.fromEntries(SLOTS.map((slot) => [slot, shard[slot]?.ids ?? new BigInt64Array(0)]));
        return Object.values(plainly.lookup(all)).flatMap((values) => [...values]);
      });
      assert.deepEqual([...found.embeddings], rows.flat());
      assert.deepEqual(
        [...found.embeddingSplits],
        rows.map((row) => row.length),
      );
      assert.equal(found.idOffsets.at(-1), request.ids.length);
      assert.equal(found.embeddingOffsets.at(-1), gradients.length);
    }),
  );
});

t.test('fused calls refuse sizes that do not fit', async (t) => {
  const tables = [modelTable('a', 1), modelTable('b', 2)];
  const ids = BigInt64Array.of(1n, 2n);
  t.throws(() => fusedLookup(tables, { ids, fusedSlotSize: [1], numOfShards: 1 }), { code: 'ML_OP' });
  t.throws(() => fusedLookup(tables, { ids, fusedSlotSize: [1, 2], numOfShards: 1 }), { code: 'ML_OP' });
  t.throws(() => fusedLookup(tables, { ids, fusedSlotSize: [3, -1], numOfShards: 1 }), { code: 'ML_OP' });
  t.throws(() => fusedLookup(tables, { ids, fusedSlotSize: [], numOfShards: 0 }), { code: 'ML_OP' });
  const request = { ids, fusedSlotSize: [1, 1], numOfShards: 1, gradients: new Float32Array(2) };
  t.throws(() => fusedApplyGradient(tables, request), { code: 'ML_OP' });
});

t.test('workers in step update as if each had summed its gradients and then all stepped in turn', async () => {
  const workers = fc.array(updates, { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(updates, workers, async (assigned, given) => {
      const whole = new MultiTypeHashTable(modelTables());
      const parts = given.map(() => new MultiTypeHashTable(modelTables()));
      whole.assign(assigned);
      // With more than four workers the first has no rows.
      const empty = given.length > 4;
      for (const [slot, { ids, values }] of Object.entries(assigned)) {
        ids.forEach((id: bigint, i: number) => {
          const row = values.slice(i * DIMS[slot as 'slot0'], (i + 1) * DIMS[slot as 'slot0']);
          parts[shardOfId(id, given.length, empty)]!.assign({ [slot]: { ids: BigInt64Array.of(id), values: row } });
        });
      }
      const collective = new LocalAllToAll(given.length);
      const tables = parts.map((part, rank) => new DistributedMultiTypeHashTableMpi(part, collective.worker(rank)));
      const first = await Promise.all(tables.map((table, w) => table.lookup(idsOf(given[w]!))));
      first.forEach(({ rows }, w) => {
        assert.deepEqual(plain(rows), plain(whole.lookup(idsOf(given[w]!))));
      });
      await Promise.all(
        tables.map((table, w) => table.applyGradients(first[w]!, valuesOf(given[w]!), { globalStep: 4 })),
      );
      for (const worker of given) whole.applyGradients(copyOf(worker), { enableDedup: true, globalStep: 4 });
      const second = await Promise.all(tables.map((table, w) => table.lookup(idsOf(given[w]!))));
      second.forEach(({ rows }, w) => {
        assert.deepEqual(plain(rows), plain(whole.lookup(idsOf(given[w]!))));
      });
    }),
  );
});

t.test('a worker sends a part to every worker', async (t) => {
  const alone = new LocalAllToAll(1).worker(0);
  t.same(await alone.exchange(['x']), ['x']);
  await t.rejects(alone.exchange([]), { code: 'ML_OP' });
  const three = new LocalAllToAll(3);
  const rounds = await Promise.all(
    times(3, async (rank) => {
      const worker = three.worker(rank);
      const first = await worker.exchange(times(3, (to) => `${rank}${to}`));
      return [first, await worker.exchange(times(3, (to) => `${rank}${to}!`))];
    }),
  );
  t.same(rounds[1], [
    ['01', '11', '21'],
    ['01!', '11!', '21!'],
  ]);
});
