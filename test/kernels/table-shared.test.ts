import fc from 'fast-check';
import t from 'tap';
import { LOOKUP_SCRATCH_BYTES } from '../../src/memory/table-layout.js';
import { identical, randomFloats, stream, within } from './both.js';
import { KernelHarness } from './harness.js';
import { type Kernel, runPair } from './pair.js';
import {
  drawIds,
  isApproximate,
  layTable,
  segmentShapes,
  spoil,
  type TableShape,
  tableShapes,
  twins,
} from './table-maker.js';

const h = await KernelHarness.create(4 << 20);

const CALLS = [
  'assign',
  'add',
  'optimize',
  'reinitialize',
  'remove',
  'lookup',
  'retrieve',
  'contains',
  'evict',
] as const;
type Call = (typeof CALLS)[number];
interface Drawn {
  readonly call: Call;
  readonly n: number;
  readonly admits: boolean;
  readonly gap: number;
}
const calls: fc.Arbitrary<readonly Drawn[]> = fc.array(
  fc.record({
    call: fc.constantFrom(...CALLS),
    n: fc.integer({ min: 0, max: 60 }),
    admits: fc.boolean(),
    gap: fc.integer({ min: 0, max: 3 }),
  }),
  { minLength: 1, maxLength: 10 },
);

/** Kernel, twin and arguments of a call. Ids are few, so that they come twice and come back. */
function prepare(table: number, dim: number, { call, n, admits, gap }: Drawn, next: () => number, timeSec: number) {
  const ids = h.putI64(drawIds(next, n, 60));
  const stride = dim + gap;
  const admitted = admits ? h.alloc(n) : 0;
  for (let i = 0; admits && i < n; i++) h.views.u8[admitted + i] = next() < 0.5 ? 1 : 0;
  const floats = () => h.putF32(randomFloats(next, n * stride));
  const pair = (kernel: Kernel, twin: Kernel, ...args: number[]) => ({ kernel, twin, args: [table, ...args] });
  const { wasm } = h;
  switch (call) {
    case 'assign':
      return pair(wasm.tableAssign, twins.tableAssign, ids, n, floats(), stride, timeSec, admitted, 0);
    case 'add':
      return pair(wasm.tableAssign, twins.tableAssign, ids, n, floats(), stride, timeSec, admitted, 1);
    case 'optimize': {
      const gradients = h.putF32(spoil(next, randomFloats(next, n * stride), 1e-3));
      return pair(wasm.tableOptimize, twins.tableOptimize, ids, n, gradients, stride, timeSec, admitted);
    }
    case 'reinitialize':
      return pair(wasm.tableReinitialize, twins.tableReinitialize, ids, n, timeSec, h.alloc(n * 4));
    case 'remove':
      return pair(wasm.tableRemove, twins.tableRemove, ids, n);
    case 'lookup':
      return pair(wasm.tableLookup, twins.tableLookup, ids, n, floats(), stride);
    case 'contains':
      return pair(wasm.tableContains, twins.tableContains, ids, n, h.alloc(n));
    case 'retrieve':
      return pair(wasm.tableRetrieve, twins.tableRetrieve, ids, n, floats(), stride, scratch);
    case 'evict':
      // Rows of a day ago go; times grow by half a day with each call.
      return pair(wasm.tableEvict, twins.tableEvict, 0, 1, timeSec, days);
    default:
      return call satisfies never;
  }
}

const scratch = h.alloc(LOOKUP_SCRATCH_BYTES);
const days = h.putI32(new Int32Array(32768).fill(1));

/** Runs calls one after the other, each both ways from what the kernels left. */
function runCalls(shape: TableShape, drawn: readonly Drawn[], seed: number): void {
  h.scope(() => {
    const next = stream(seed);
    const begin = h.arena.mark();
    const table = layTable(h, shape);
    const same = isApproximate(shape) && shape.serving !== true ? within(64, 1e-5) : identical;
    drawn.forEach((call, i) => {
      if (shape.serving === true && call.call === 'optimize') return;
      const { kernel, twin, args } = prepare(table.address, table.dim, call, next, 86400 + i * 43200);
      runPair(h, begin, kernel, twin, args, same);
    });
  });
}

t.test('calls of any thread leave a training table as their twins do', async () => {
  const heapBytes = fc.constantFrom(200_000, 30_000, 9000);
  const property = fc.property(tableShapes, heapBytes, calls, fc.integer(), (shape, heapBytes, drawn, seed) =>
    runCalls({ ...shape, heapBytes }, drawn, seed),
  );
  fc.assert(property, { numRuns: 120 });
});

t.test('calls of any thread leave a serving table as their twins do, whatever its compressors', async () => {
  const shapes: fc.Arbitrary<TableShape> = fc.record({
    segments: fc.array(segmentShapes, { minLength: 1, maxLength: 4 }),
    log2Partitions: fc.constantFrom(0, 2),
    heapBytes: fc.constantFrom(200_000, 5000),
    serving: fc.constant(true),
  });
  fc.assert(fc.property(shapes, calls, fc.integer(), runCalls), { numRuns: 120 });
});

const served = (compressor: 'fp32' | 'fp16' | 'fixedR8' | 'oneBit'): TableShape => ({
  segments: [
    {
      ...{ dim: 3, optimizer: 'sgd', initializer: 'constant', retriever: 'raw', compressor },
      ...{ rounds: false, varied: false, globalStep: 0 },
    },
  ],
  log2Partitions: 0,
  serving: true,
});

t.test('a serving row shows what its compressor keeps, and is added to from what it shows', async (t) => {
  const expected = {
    fp32: [0.3, 0.6],
    fp16: [0.300048828125, 0.60009765625],
    fixedR8: [38 / 128, 76 / 128],
    oneBit: [1, 1],
  } as const;
  for (const compressor of ['fp32', 'fp16', 'fixedR8', 'oneBit'] as const) {
    h.scope(() => {
      const { address } = layTable(h, served(compressor));
      const [ids, values, out] = [h.putI64([4n]), h.putF32([0.3, 0.3, 0.3]), h.alloc(12)];
      const shown = () => {
        t.equal(h.wasm.tableLookup(address, ids, 1, out, 3), 1);
        return [...h.f32(out, 3)];
      };
      const [assigned, added] = expected[compressor];
      h.wasm.tableAssign(address, ids, 1, values, 3, 5, 0, 0);
      t.same(shown(), Array(3).fill(Math.fround(assigned)), compressor);
      h.wasm.tableAssign(address, ids, 1, values, 3, 5, 0, 1);
      t.same(shown(), Array(3).fill(Math.fround(added)), compressor);
    });
  }
});

t.test('a row that is not admitted is not made, and what is removed is gone', async (t) => {
  h.scope(() => {
    const { address } = layTable(h, { ...served('fp32'), serving: false });
    const [ids, values, found] = [h.putI64([1n, 2n, 1n]), h.putF32(Array(9).fill(1)), h.alloc(3)];
    const admitted = h.alloc(3);
    h.views.u8.set([0, 1, 1], admitted);
    t.equal(h.wasm.tableAssign(address, ids, 2, values, 3, 5, admitted, 0), 2);
    t.equal(h.wasm.tableContains(address, ids, 3, found), 1);
    t.same([...h.views.u8.slice(found, found + 3)], [0, 1, 0]);
    t.equal(h.wasm.tableReinitialize(address, ids, 3, 5, values), 3);
    t.same([...h.i32(values, 3)], [0, 1, 1]);
    t.equal(h.wasm.tableRemove(address, ids, 3), 2);
    t.equal(h.wasm.tableContains(address, ids, 3, found), 0);
  });
});
