import t, { type Test as T } from 'tap';
import { HEAP } from '../../src/memory/table-layout.js';
import { ConstantsInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import type { TableOptions } from '../../src/sparse/table/table-options.js';
import { TableFixture } from './table-fixture.js';

const DIM = 3;
const FIRST = 2;
const DAY = 86400;
const segments = [{ dim: DIM, initializer: ConstantsInitializer(FIRST), optimizer: SgdOptimizer(), learningRate: 1 }];
const BACKENDS = ['wasm', 'reference'] as const;
const fill = (count: number, value: number) => new Float32Array(count * DIM).fill(value);
const idsFrom = (first: number, count: number) => BigInt64Array.from({ length: count }, (_, i) => BigInt(first + i));
const asRows = (ids: BigInt64Array, value: number) => ({
  ids: [...ids],
  gradients: Array.from(ids, () => new Array<number>(DIM).fill(value)),
});

class Heap {
  readonly #u32: Uint32Array;
  readonly #at: number;
  constructor({ views, heap }: TableFixture) {
    this.#u32 = views.u32;
    this.#at = heap / 4;
  }
  get top(): number {
    return this.#u32[this.#at + HEAP.top]!;
  }
  set end(end: number) {
    this.#u32[this.#at + HEAP.end] = end;
  }
  get end(): number {
    return this.#u32[this.#at + HEAP.end]!;
  }
  /** Bytes of blocks that were given back. */
  get retiredBytes(): number {
    let bytes = 0;
    for (let log2 = 0; log2 < 32; log2++) {
      for (let block = this.#u32[this.#at + HEAP.retired + log2]!; block !== 0; block = this.#u32[block / 4]!) {
        bytes += 2 ** log2;
      }
    }
    return bytes;
  }
}

function make(backend: (typeof BACKENDS)[number], options: TableOptions = {}, expireDays = 1) {
  const fixture = new TableFixture(backend, { heapBytes: 1 << 20 });
  const config = defineTable('t', segments, { defaultExpireTime: expireDays });
  const table = HashTable.create(fixture.tables, config, options);
  return { fixture, table, heap: new Heap(fixture) };
}

/** Every row of the model is there with its value, and nothing else is. */
function holds(table: HashTable, model: ReadonlyMap<bigint, number>): boolean {
  const rows = [...table.rows()];
  if (table.size !== model.size || rows.length !== model.size) return false;
  if (!rows.every(({ id, weights }) => weights.every((weight) => weight === model.get(id)))) return false;
  const ids = BigInt64Array.from(model.keys());
  return table.lookup(ids).every((value, i) => value === model.get(ids[Math.floor(i / DIM)]!));
}

/** Ends of the heap at which some allocation of `work` is the first that fails. */
function endsOf(heap: Heap, work: () => void): number[] {
  const before = heap.top;
  const tops = new Set<number>();
  const { end } = heap;
  work();
  // The last doubling of an index may fail without harm: it fills up instead, and the last rows go into smaller blocks.
  for (let at = before; at < heap.top - 16384; at += 512) tops.add(at);
  heap.end = end;
  return [...tops];
}

for (const backend of BACKENDS) {
  t.test(`whichever allocation of an insert fails, no row is lost and none leaks (${backend})`, async (t: T) => {
    const count = 700;
    const ids = idsFrom(-300, count);
    const probe = make(backend);
    const ends = endsOf(probe.heap, () => probe.table.assign(ids, fill(count, 1)));
    const base = probe.heap;
    t.ok(ends.length > 50, `${ends.length} ends of at most ${base.top}`);
    for (const end of ends.filter((_, i) => i % (backend === 'wasm' ? 4 : 32) === 0)) {
      const { table, heap } = make(backend);
      const start = heap.top;
      const whole = heap.end;
      heap.end = end;
      const model = new Map<bigint, number>();
      let failures = 0;
      for (const id of ids) {
        const one = BigInt64Array.of(id);
        try {
          table.assign(one, fill(1, 1));
          model.set(id, 1);
        } catch (error) {
          failures++;
          if (!(error instanceof Error && 'code' in error && error.code === 'ML_MEMORY')) throw error;
        }
      }
      if (failures === 0 || !holds(table, model)) t.fail(`${failures} failures with the end at ${end}`);
      heap.end = whole;
      table.assign(ids, fill(count, 3));
      if (!holds(table, new Map([...ids].map((id) => [id, 3])))) t.fail(`after more memory, end ${end}`);
      table.clear();
      if (heap.retiredBytes !== heap.top - start) t.fail(`${heap.top - start - heap.retiredBytes} bytes leaked`);
    }
  });

  t.test(`whichever allocation of a step fails, rows stay whole (${backend})`, async (t: T) => {
    const slices = [asRows(idsFrom(0, 500), -1), asRows(idsFrom(250, 500), -1)];
    const probe = make(backend);
    const ends = endsOf(probe.heap, () => {
      probe.fixture.apply(probe.table, slices);
    });
    for (const end of ends.filter((_, i) => i % (backend === 'wasm' ? 1 : 16) === 0)) {
      const { fixture, table, heap } = make(backend);
      const start = heap.top;
      const whole = heap.end;
      heap.end = end;
      if (fixture.apply(table, slices) !== -1) t.fail(`the step succeeds with the end at ${end}`);
      const values = new Map([...table.rows()].map(({ id, weights }) => [id, weights[0]!]));
      for (const [id, value] of values) {
        const stepped = FIRST + (id >= 250n && id < 500n ? 2 : 1);
        if (value !== FIRST && value !== stepped) t.fail(`id ${id} has ${value}, end ${end}`);
      }
      if (!holds(table, values)) t.fail(`with the end at ${end}`);
      heap.end = whole;
      if (fixture.apply(table, slices) !== 750 || table.size !== 750) t.fail(`after more memory, end ${end}`);
      table.clear();
      if (heap.retiredBytes !== heap.top - start) t.fail(`${heap.top - start - heap.retiredBytes} bytes leaked`);
    }
  });

  for (const [title, options] of [
    ['of slots that live no day', { days: 0, updateSec: 5 * DAY }],
    ['older than what a row lives', { days: 1, updateSec: 1 }],
  ] as const) {
    t.test(`a full step that evicts rows it updates makes them anew: ids ${title} (${backend})`, async (t: T) => {
      for (const more of [0, 1, 2, 3, 4, 5, 8, 12]) {
        const { fixture, table, heap } = make(backend, { whenFull: 'evict-expired' }, options.days);
        table.assign(idsFrom(0, 300), fill(300, 1), { timeSec: 5 * DAY - 1 });
        heap.end = heap.top + more * 1024;
        // Half of them have rows, half are new, in two slices that overlap.
        const slices = [asRows(idsFrom(200, 120), -1), asRows(idsFrom(260, 120), -1)];
        table.assign(idsFrom(0, 1), fill(1, 1), { timeSec: 5 * DAY });
        const nullPage = fixture.views.u8.slice(0, 4096);
        const stepped = fixture.apply(table, slices, { updateSec: options.updateSec });
        t.strictSame(fixture.views.u8.slice(0, 4096), nullPage, 'nothing is written where there is no row');
        if (stepped < 0) continue;
        const values = new Map([...table.rows()].map(({ id, weights }) => [id, weights[0]!]));
        t.equal(stepped, 180);
        for (let id = 200n; id < 380n; id++) {
          const gradients = id >= 260n && id < 320n ? 2 : 1;
          const value = values.get(id);
          if (value !== 1 + gradients && value !== FIRST + gradients) t.fail(`id ${id} has ${value}, ${more} KiB more`);
        }
        t.ok(holds(table, values));
      }
    });
  }
}
