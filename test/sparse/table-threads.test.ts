import t from 'tap';
import { PolynomialDecay } from '../../src/base/rates/schedules.js';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { ZerosInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { type Together, workerCrew } from '../support/worker-crew.js';
import type { TableJob, TableWorkerResult } from './table-worker.js';

const THREADS = 3;
const ROUNDS = 25;
const runThreads = workerCrew<Omit<TableJob, keyof Together>, TableWorkerResult>(
  new URL('./table-worker.js', import.meta.url),
);

for (const banks of [1, 3]) {
  t.test(`threads that work on one table at once lose nothing, ${banks} bank(s)`, async (t) => {
    const memory = await TableMemory.create({ budgetBytes: banks * (4 << 20), bankBytes: (4 << 20) + 65536 });
    t.equal(memory.banks.length, banks);
    const segment = { initializer: ZerosInitializer(), optimizer: SgdOptimizer(), learningRate: 1 };
    // A rate by step cannot go to other threads; they use what the table has.
    const rate = new PolynomialDecay({ initialLearningRate: 1, decaySteps: 10, endLearningRate: 1 });
    const table = HashTable.create(
      memory,
      defineTable('threads', [
        { ...segment, dim: 3 },
        { ...segment, dim: 14, learningRate: rate },
      ]),
    );
    // Every id of the first few comes twice in a batch.
    const shared = BigInt64Array.from({ length: 600 }, (_, i) => BigInt(i % 500) - 250n);
    const own = (thread: number) => BigInt64Array.from({ length: 400 }, (_, i) => BigInt((thread + 1) * 100_000 + i));
    const jobs = Array.from({ length: THREADS }, (_, thread) => ({
      ...{ handle: table.handle, shared, own: own(thread), rounds: ROUNDS },
    }));
    const results = await runThreads(jobs);
    const perPosition = THREADS * ROUNDS * 2;
    const expected = [...shared].flatMap((_, i) => {
      const positions = i % 500 < 100 ? 2 : 1;
      return new Array<number>(table.dim).fill(perPosition * positions);
    });
    t.strictSame([...table.lookup(shared)], expected, 'each position counted once');
    t.equal(table.size, 500 + THREADS * 400);
    t.equal(table.maxUpdateSec, ROUNDS - 1);
    jobs.forEach((job, thread) => {
      t.ok(
        table.lookup(job.own).every((value) => value === ROUNDS),
        `ids of thread ${thread} are as it left them`,
      );
    });
    t.same(
      results,
      jobs.map(() => ({ torn: 0, removed: (ROUNDS - 1) * 200 })),
    );
    t.equal([...table.rows()].length, table.size);
  });
}
