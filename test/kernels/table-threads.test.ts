import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { PARTITION, PARTITION_BYTES, SEGMENT, segmentAt, TABLE } from '../../src/memory/table-layout.js';
import { compileKernels } from '../../src/runtime/backends/wasm/load-kernels.js';
import { KernelHarness } from './harness.js';
import { layTable, type SegmentShape } from './table-maker.js';
import type { TableWorkerData, TableWorkerResult } from './table-worker.js';

const [THREADS, ROUNDS, SHARED, OWN, DIM] = [3, 60, 100, 40, 7];

t.test('threads that write to the same rows lose nothing, and see no row half written', async (t) => {
  const h = await KernelHarness.create(4 << 20);
  const segment: SegmentShape = {
    ...{ dim: DIM, optimizer: 'sgd', initializer: 'zeros', retriever: 'raw', compressor: 'fp32' },
    ...{ rounds: false, varied: false, globalStep: 0 },
  };
  // Two partitions: every id meets a lock that others want.
  const { address } = layTable(h, { segments: [segment], log2Partitions: 1, heapBytes: 1 << 20 });
  h.views.f32[segmentAt(address, 0) / 4 + SEGMENT.parameters] = -1;
  const shared = {
    ...{ module: await compileKernels(), memory: h.memory, gate: new Int32Array(new SharedArrayBuffer(4)) },
    ...{ threads: THREADS, rounds: ROUNDS, table: address, dim: DIM, sharedCount: SHARED, ownCount: OWN },
    sharedIds: h.putI64(Array.from({ length: SHARED }, (_, i) => BigInt(i))),
  };
  const results = await Promise.all(
    Array.from({ length: THREADS }, async (_, thread) => {
      const own = { ownIds: h.alloc(OWN * 8), values: h.alloc(SHARED * DIM * 4), out: h.alloc(SHARED * DIM * 4) };
      const workerData: TableWorkerData = { ...shared, ...own, thread };
      const worker = new Worker(new URL('./table-worker.js', import.meta.url), { execArgv: [], workerData });
      const [[result]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
      return result as TableWorkerResult;
    }),
  );
  t.same(results, Array(THREADS).fill({ torn: 0, lost: 0 }));
  const out = h.alloc(SHARED * DIM * 4);
  t.equal(h.wasm.tableLookup(address, shared.sharedIds, SHARED, out, DIM), SHARED);
  t.ok(h.f32(out, SHARED * DIM).every((value) => value === 2 * THREADS * ROUNDS));
  const partition = (p: number) => (h.views.u32[address / 4 + TABLE.partitions]! + p * PARTITION_BYTES) / 4;
  const rows = [0, 1].map((p) => h.views.u32[partition(p) + PARTITION.rows]!);
  t.equal(rows[0]! + rows[1]!, SHARED + THREADS * ROUNDS);
  t.equal(h.views.i64[(address + TABLE.maxUpdateTime * 4) / 8], BigInt(ROUNDS - 1));
});
