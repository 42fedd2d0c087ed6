import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import {
  APPLY_SLICE_BYTES,
  HEAP,
  HEAP_HEADER_BYTES,
  LOOKUP_SCRATCH_BYTES,
  TABLE,
} from '../../src/memory/table-layout.js';
import type { CompileEnvironment } from '../../src/runtime/lowering.js';
import * as reference from '../../src/runtime/reference/table.js';
import { tableUpdate } from '../../src/runtime/reference/table-update.js';
import { HashTable } from '../../src/sparse/hash-table.js';
import { AdagradOptimizer, FtrlOptimizer, SgdOptimizer } from '../../src/sparse/optimizers.js';
import { defineTable, type SegmentOptions } from '../../src/sparse/table-config.js';
import { randomFloats, stream } from './both.js';
import { KernelHarness } from './harness.js';

const MEMORY_BYTES = 4 << 20;
const HEAP_BYTES = 2 << 20;
const h = await KernelHarness.create(MEMORY_BYTES);

const segments = fc.array(
  fc.record({
    dim: fc.integer({ min: 1, max: 21 }),
    optimizer: fc.constantFrom(
      SgdOptimizer({ learningRate: 0.1 }),
      AdagradOptimizer({ learningRate: 0.05, initialAccumulatorValue: 0.1 }),
      FtrlOptimizer({ learningRate: 0.1, initialAccumulatorValue: 1e-6, beta: 1 }),
    ),
  }),
  { minLength: 1, maxLength: 3 },
);

/** A table over a heap of its own, as a session would make it. */
function makeTable(config: readonly SegmentOptions[], log2Partitions: number, heapBytes = HEAP_BYTES): HashTable {
  const heap = h.arena.alloc(HEAP_BYTES, 'heap');
  h.views.u8.fill(0, heap, heap + HEAP_BYTES);
  h.views.u32[heap / 4 + HEAP.top] = heap + Math.ceil(HEAP_HEADER_BYTES / 64) * 64;
  h.views.u32[heap / 4 + HEAP.end] = heap + heapBytes;
  const environment: Partial<CompileEnvironment> = {
    ...{ arena: h.arena, views: h.views, kernels: h.wasm, heap, seed: 3 },
    resource: (_, make) => make(environment as CompileEnvironment),
    onStep: () => {},
  };
  const table = HashTable.of(environment as CompileEnvironment, defineTable('table', config));
  h.views.u32[table.address / 4 + TABLE.partitionsLog2] = log2Partitions;
  return table;
}

/** One slice's part of an update: its record's words. */
function putSlice(table: HashTable, log2Partitions: number, ids: readonly bigint[], next: () => number): number[] {
  const unique = [...new Set(ids)];
  const [uids, rows, slots] = [h.putI64(unique), h.alloc(unique.length * 4), h.alloc(unique.length * 4)];
  const partitions = 2 ** log2Partitions;
  const [order, offsets] = [h.alloc(unique.length * 4), h.alloc((partitions + 1) * 4)];
  h.wasm.tableFind(table.address, uids, unique.length, rows, slots);
  h.wasm.partitionByHash(uids, unique.length, partitions, order, offsets);
  const stride = Math.ceil(table.dim / 4) * 4;
  return [uids, order, offsets, rows, h.putF32(randomFloats(next, unique.length * stride)), stride, slots];
}

t.test('rows are summed over slices and stepped as in the reference, whatever the optimizers', (t) => {
  const property = fc.property(
    segments,
    fc.constantFrom(0, 2, 6),
    fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 3 }),
    fc.integer(),
    (config, log2, sizes, seed) =>
      h.scope(() => {
        const next = stream(seed);
        // Scratch: what is left there is nobody's business.
        const merged = h.alloc(sizes.reduce((sum, size) => sum + size, 0) * 4);
        const begin = h.arena.mark();
        h.views.u8.fill(0, begin, MEMORY_BYTES);
        const table = makeTable(config, log2);
        const drawn = (count: number) => Array.from({ length: count }, () => BigInt(Math.floor(next() * 900) - 450));
        // Some ids are there before, with rows that are found; the others are made by the update.
        const known = drawn(200);
        h.wasm.tableUpsert(table.address, h.putI64(known), known.length, h.alloc(known.length * 4), 0);
        const records = h.alloc(APPLY_SLICE_BYTES * sizes.length);
        sizes.forEach((size, i) => {
          h.views.u32.set(putSlice(table, log2, drawn(size), next), (records + i * APPLY_SLICE_BYTES) / 4);
        });
        const args = [table.address, 0, 2 ** log2, records, sizes.length, merged, 7] as const;
        const image = h.views.u8.slice(begin);
        const wasmStepped = h.wasm.tableApply(...args);
        const wasm = h.views.u8.slice(begin);
        h.views.u8.set(image, begin);
        assert.equal(reference.tableApply(h.views, ...args), wasmStepped);
        assert.ok(Buffer.compare(wasm, h.views.u8.slice(begin)) === 0, 'both left the same bytes');
      }),
  );
  fc.assert(property, { numRuns: 60 });
  t.end();
});

t.test('an update by ids alone is that of the reference, also when the heap is full', (t) => {
  const property = fc.property(
    segments,
    fc.constantFrom(0, 2, 6),
    fc.integer({ min: 0, max: 900 }),
    fc.constantFrom(HEAP_BYTES, 40_000),
    fc.integer(),
    (config, log2, size, heapBytes, seed) =>
      h.scope(() => {
        const next = stream(seed);
        const scratch = h.alloc(LOOKUP_SCRATCH_BYTES);
        const begin = h.arena.mark();
        h.views.u8.fill(0, begin, MEMORY_BYTES);
        const table = makeTable(config, log2, heapBytes);
        const drawn = (count: number) => Array.from({ length: count }, () => BigInt(Math.floor(next() * 900) - 450));
        const known = drawn(100);
        h.wasm.tableUpsert(table.address, h.putI64(known), known.length, h.alloc(known.length * 4), 0);
        const unique = [...new Set(drawn(size))];
        const stride = table.dim + 3;
        const gradients = h.putF32(randomFloats(next, unique.length * stride));
        const args = [table.address, h.putI64(unique), unique.length, gradients, stride, scratch, 7] as const;
        const image = h.views.u8.slice(begin);
        const handled = h.wasm.tableUpdate(...args);
        const wasm = h.views.u8.slice(begin);
        h.views.u8.set(image, begin);
        assert.equal(tableUpdate(h.views, ...args), handled);
        if (heapBytes === HEAP_BYTES) assert.equal(handled, unique.length);
        assert.ok(Buffer.compare(wasm, h.views.u8.slice(begin)) === 0, 'both left the same bytes');
      }),
  );
  fc.assert(property, { numRuns: 60 });
  t.end();
});
