import type { Worker } from 'node:worker_threads';
import t from 'tap';
import { CONTEXT_BYTES } from '../../../src/memory/program-layout.js';
import { compileKernels } from '../../../src/runtime/backends/wasm/load-kernels.js';
import { KERNEL } from '../../../src/runtime/kernels/kernels.js';
import type { BackendName } from '../../../src/runtime/pool/load-backend.js';
import { ThreadPool } from '../../../src/runtime/pool/thread-pool.js';
import { KernelHarness } from '../../kernels/harness.js';
import { BACKENDS } from '../with-session.js';
import { endlessTable, type SmallProgram, smallProgram } from './small-program.js';

const h = await KernelHarness.create(16 << 20);
const module = await compileKernels();
const UNTRACED = { traceName: 0 };

function start(program: SmallProgram, threads: number, backend: BackendName = 'wasm'): Promise<ThreadPool> {
  return ThreadPool.start({ threads, backend, memory: h.memory, module, control: program.control });
}

const run = (pool: ThreadPool, program: SmallProgram) =>
  pool.run([{ contexts: program.contexts, contextStride: CONTEXT_BYTES, batch: 0 }], 60_000);

/** Every thread counts in the slice phase and, after the barrier, copies the counters of all. */
function counting(threads: number) {
  const counters = h.alloc(threads * 64);
  const seen = h.alloc(threads * threads * 4);
  const program = smallProgram(h, threads, (slice, thread) => {
    const counter = slice.each((index) => counters + index * 64);
    slice.emit(KERNEL.addCountI64, { counter, count: slice.constant(1) }, UNTRACED);
    const one = thread.constant(1);
    const src = { pointer: thread.constant(counters), stride: thread.constant(16) };
    const dst = { pointer: thread.each((index) => seen + index * threads * 4), stride: one };
    const [rows, acc] = [thread.constant(threads), thread.constant(0)];
    thread.emit(KERNEL.copyRowsF32, { src, dst, rows, cols: one, acc }, UNTRACED);
  });
  return { program, seen: () => [...h.i32(seen, threads * threads)], counters };
}

/** Thread 0 marks `entered` and searches for ever; the others wait for it. */
function endless(threads: number) {
  const entered = h.alloc(64);
  const { table, id, row } = endlessTable(h);
  const program = smallProgram(h, threads, (slice) => {
    const count = slice.each((index) => (index === 0 ? 1 : 0));
    slice.emit(KERNEL.addCountI64, { counter: slice.constant(entered), count }, UNTRACED);
    const [rows, slots] = [slice.constant(row), slice.constant(0)];
    slice.emit(
      KERNEL.tableFind,
      { table: slice.constant(table), ids: slice.constant(id), n: count, rows, slots },
      UNTRACED,
    );
  });
  return { program, entered: () => Atomics.load(h.views.i32, entered / 4) > 0 };
}

/** Lets events happen until `reached`; the limit of the test is what ends it otherwise. */
async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await new Promise((resolve) => setImmediate(resolve));
}

/** Closes the pool and says how many of its threads are left: an exited thread has the id -1. */
async function closeAndCount(pool: ThreadPool, workers: readonly Worker[] = pool.workers): Promise<number> {
  const kept = [...workers];
  await pool.close();
  return kept.filter((worker) => worker.threadId !== -1).length;
}

for (const backend of BACKENDS) {
  t.test(`no thread passes a barrier before all have arrived, step after step (${backend})`, async (t) => {
    for (const threads of [1, 2, 4]) {
      const { program, seen, counters } = counting(threads);
      const pool = await start(program, threads, backend);
      const wrong: number[] = [];
      for (let step = 1; step <= 100; step++) {
        await run(pool, program);
        if (seen().some((count) => count !== step)) wrong.push(step);
      }
      t.same(wrong, [], `${threads} threads`);
      t.same(h.i64(counters, 1), BigInt64Array.of(100n));
      t.equal(await closeAndCount(pool), 0, 'no thread outlives close()');
    }
  });

  t.test(`a thread that dies between steps fails the pool, which can be started again (${backend})`, async (t) => {
    const { program, seen } = counting(2);
    const pool = await start(program, 2, backend);
    await run(pool, program);
    await pool.workers[1]!.terminate();
    await t.rejects(run(pool, program), { code: 'ML_WORKER' });
    await t.rejects(run(pool, program), { code: 'ML_WORKER' }, 'and every later step');
    t.equal(await closeAndCount(pool), 0);

    const second = await start(program, 2, backend);
    const before = Math.max(...seen());
    await run(second, program);
    await run(second, program);
    t.ok(Math.min(...seen()) > before, 'the same program runs on the same memory');
    t.equal(await closeAndCount(second), 0);
  });

  t.test(
    `a thread that dies in a step fails the step, and hung threads do not outlive the pool (${backend})`,
    async (t) => {
      const { program, entered } = endless(2);
      const pool = await start(program, 2, backend);
      const workers = [...pool.workers];
      const step = t.rejects(run(pool, program), { code: 'ML_WORKER' });
      await until(entered);
      await workers[0]!.terminate();
      await step;
      t.equal(await closeAndCount(pool, workers), 0);
    },
  );
}

t.test('a step that takes too long fails with its limit', async (t) => {
  const { program } = endless(2);
  const pool = await start(program, 2);
  const workers = [...pool.workers];
  const step = pool.run([{ contexts: program.contexts, contextStride: CONTEXT_BYTES, batch: 0 }], 50);
  await t.rejects(step, { code: 'ML_TIMEOUT', message: /a training step did not answer within 50 ms/ });
  t.equal(await closeAndCount(pool, workers), 0);
});

t.test('a trap in a kernel is reported with its text', async (t) => {
  const { program } = counting(2);
  const pool = await start(program, 2);
  // The cause is the error of the thread, with the place it was thrown at.
  const cause = { name: 'RuntimeError', message: /out of bounds/, stack: /at joinSession / };
  const error = { code: 'ML_WORKER', message: /worker thread [01] failed: .*out of bounds/, cause };
  await t.rejects(pool.run([{ contexts: 0xfffffff0, contextStride: 0, batch: 0 }]), error);
  await t.rejects(run(pool, program), error);
  t.equal(await closeAndCount(pool), 0);
});

t.test('a module without a step function fails the first step', async (t) => {
  const { program } = counting(2);
  // An empty module: instantiating it works, but it exports no step function.
  const empty = await WebAssembly.compile(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  const begin = ThreadPool.start({
    threads: 2,
    backend: 'wasm',
    memory: h.memory,
    module: empty,
    control: program.control,
  });
  const pool = await begin;
  await t.rejects(run(pool, program), { code: 'ML_WORKER', message: /runStep is not a function/ });
  t.equal(await closeAndCount(pool), 0);
});

t.test('a thread that fails before it joined fails the start', async (t) => {
  const { program } = counting(2);
  // A module with an import that nobody provides cannot be instantiated.
  const needy = await WebAssembly.compile(
    Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 2, 7, 1, 1, 0x78, 1, 0x79, 0, 0),
  );
  const begin = ThreadPool.start({
    threads: 2,
    backend: 'wasm',
    memory: h.memory,
    module: needy,
    control: program.control,
  });
  await t.rejects(begin, { code: 'ML_WORKER', message: /x|import/i });
});

t.test('a number of threads that cannot be is refused', async (t) => {
  const { program } = counting(1);
  for (const threads of [0, 65, 1.5, -1, Number.NaN]) {
    await t.rejects(start(program, threads), { code: 'ML_FLAG', message: /is not between 1 and 64/ }, `${threads}`);
  }
});

t.test('closing is done once, whoever asks, and a closed pool runs nothing', async (t) => {
  const { program } = counting(2);
  const pool = await start(program, 2);
  const workers = [...pool.workers];
  await Promise.all([pool.close(), pool.close()]);
  t.equal(await closeAndCount(pool, workers), 0);
  await t.rejects(run(pool, program), { code: 'ML_CLOSED' });
});
