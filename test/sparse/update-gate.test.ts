import fc from 'fast-check';
import t from 'tap';
import { Arena } from '../../src/memory/arena.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { Views } from '../../src/memory/views.js';
import { instantiateKernels } from '../../src/runtime/backends/wasm/instantiate-kernels.js';
import { compileKernels } from '../../src/runtime/backends/wasm/load-kernels.js';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { DummyFilter } from '../../src/sparse/admission/admission-filter.js';
import type { AdmissionFilter } from '../../src/sparse/admission/filter-memory.js';
import { HashFilter } from '../../src/sparse/admission/hash-filter.js';
import { generateTestHashTableConfig } from '../../src/sparse/config/table-config.js';
import { HashTable, type TableOptions } from '../../src/sparse/table/hash-table.js';
import { TouchedKeySet } from '../../src/sparse/table/touched-key-set.js';

const memory = await TableMemory.create({ budgetBytes: 4 << 20 });
const module = await compileKernels();
const filterMemory = createSharedMemory(16 << 20);
const filterParts = {
  memory: filterMemory,
  views: new Views(filterMemory.buffer),
  kernels: instantiateKernels(module, filterMemory),
  arena: new Arena('test', 65536, 16 << 20),
};

/** A filter that keeps ids of slot 1 out three times, those of slot 2 twenty times, others never. */
function makeFilter(): HashFilter {
  const thresholds = {
    slotOccurrenceThresholds: [
      { slot: 1, occurrenceThreshold: 3 },
      { slot: 2, occurrenceThreshold: 20 },
    ],
  };
  return HashFilter.counting({ ...filterParts, capacity: 1000, thresholds });
}

function makeTable(options: TableOptions): HashTable {
  return HashTable.create(memory, { name: '', instance: generateTestHashTableConfig(1) }, options);
}

const id = fc
  .record({ slot: fc.integer({ min: 0, max: 2 }), low: fc.integer({ min: 1, max: 4 }) })
  .map(({ slot, low }) => (BigInt(slot) << 48n) | (BigInt(low) << 20n));
const batch = fc.record({ ids: fc.array(id, { maxLength: 24 }), kind: fc.constantFrom('optimize', 'assign', 'add') });

t.test('a batch passes the filter as its ids would one by one', async (t) => {
  const mark = filterParts.arena.mark();
  const property = fc.property(fc.array(batch, { maxLength: 6 }), (batches) => {
    const filters = [makeFilter(), makeFilter()] as const;
    const [whole, single] = filters.map((filter) => makeTable({ filter })) as [HashTable, HashTable];
    const call = (table: HashTable, kind: string, ids: BigInt64Array) => {
      const ones = new Float32Array(ids.length).fill(1);
      if (kind === 'optimize') table.optimize(ids, ones);
      else if (kind === 'assign') table.assign(ids, ones);
      else table.assignAdd(ids, ones);
    };
    for (const { ids, kind } of batches) {
      call(whole, kind, BigInt64Array.from(ids));
      for (const one of ids) call(single, kind, BigInt64Array.of(one));
    }
    const all = BigInt64Array.from(batches.flatMap(({ ids }) => ids));
    t.strictSame(whole.lookup(all), single.lookup(all));
    t.strictSame(whole.contains(all), single.contains(all));
    t.strictSame(filters[0].get(all), filters[1].get(all), 'the same ticks');
    for (const table of [whole, single]) table.dispose();
    filterParts.arena.release(mark);
  });
  fc.assert(property, { numRuns: 60 });
});

t.test('summed gradients tick the filter once, by how often the id came', async (t) => {
  const filter = makeFilter();
  const table = makeTable({ filter });
  const rare = 2n << 48n;
  const ids = BigInt64Array.of(1n, rare, 1n, rare);
  table.optimize(ids, Float32Array.of(1, 5, 2, 5), { enableDedup: true });
  t.strictSame([...table.lookup(ids)], [-3, 0, -3, 0]);
  t.strictSame([...filter.get(BigInt64Array.of(rare, 1n))], [2, 0], 'slot 0 has no threshold and is not counted');
  table.optimizeOne(rare, Float32Array.of(4));
  t.equal(table.lookup(BigInt64Array.of(rare))[0], -4, 'a single id passes the filter by');
  table.optimize(ids, Float32Array.of(1, 1, 1, 1));
  t.strictSame([...filter.get(BigInt64Array.of(rare))], [2], 'an id that has a row does not ask');
  table.dispose();
});

t.test('the filter learns nothing of ids that have rows, and a dummy lets all in', async (t) => {
  const asked: bigint[] = [];
  const filter: AdmissionFilter = {
    type: 'probabilistic_filter',
    shouldFilter: ({ ids }) => {
      asked.push(...ids);
      return new Uint8Array(ids.length);
    },
  };
  const table = makeTable({ filter });
  table.assign(BigInt64Array.of(1n, 2n, 1n), Float32Array.of(1, 1, 1));
  table.assignAdd(BigInt64Array.of(2n, 3n), Float32Array.of(1, 1));
  t.same(asked, [1n, 2n, 3n]);
  table.dispose();
  const open = makeTable({ filter: new DummyFilter() });
  open.assign(BigInt64Array.of(1n), Float32Array.of(1));
  t.equal(open.size, 1);
  open.dispose();
});

t.test('gradients and new starts touch ids, assignments and removals do not', async (t) => {
  const set = new TouchedKeySet({ ...filterParts, capacity: 100, concurrencyLevel: 1 });
  const indexes = new Set<number>();
  const recorder = {
    insert: (ids: BigInt64Array, tableIndex: number) => {
      indexes.add(tableIndex);
      return set.insert(ids);
    },
  };
  const kept = 2n << 48n;
  const table = makeTable({ filter: makeFilter(), touchedKeys: { set: recorder, tableIndex: 7 } });
  const stolen = () => [...set.steal()].sort((a, b) => (a < b ? -1 : 1));
  table.optimize(BigInt64Array.of(1n, kept, 2n, 1n), new Float32Array(4));
  t.same(stolen(), [1n, 2n], 'an id the filter keeps out is not touched');
  table.assign(BigInt64Array.of(3n), Float32Array.of(1));
  table.assignAdd(BigInt64Array.of(3n), Float32Array.of(1));
  table.evict(0);
  table.remove(BigInt64Array.of(3n));
  t.same(stolen(), []);
  table.optimizeOne(kept, Float32Array.of(1));
  table.reinitialize(BigInt64Array.of(9n));
  t.same(stolen(), [9n, kept]);
  t.same([...indexes], [7]);
  table.dispose();
});
