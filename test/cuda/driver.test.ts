/** @file The driver through the addon: opening, memory, copies, streams, launches, threads. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { cudaError } from '../../src/runtime/backends/cuda/cuda-errors.js';
import { CudaDriver } from '../../src/runtime/backends/cuda/driver.js';
import type { KernelArgument } from '../../src/runtime/backends/cuda/ptx-module.js';
import { download, fixture, upload, withSimulated } from './simulated.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

t.test('the driver is taken from the option or the environment, and failures say what was tried', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    t.match(driver.device, { name: /not a GPU/, computeCapability: 75, threadsPerBlockMax: 1024 });
    t.ok(driver.simulator);
    t.equal(CudaDriver.open({ env: { MONOLITH_CUDA_DRIVER: 'sim' } }).path, driver.path);
    t.throws(() => CudaDriver.open({ driver: '/no/driver.so' }), {
      code: 'ML_CUDA_DRIVER',
      message: /opened the driver .* already/,
      hint: /one driver/,
    });
    t.throws(() => CudaDriver.open({ driver: 'sim', device: 3 }), { code: 'ML_CUDA_DEVICE', message: /1 devices/ });
    // Other drivers than the one of this process need a process of their own.
    const script = `import { CudaDriver } from '${root}build/src/runtime/backends/cuda/driver.js';
      for (const driver of JSON.parse(process.argv[1])) {
        try { CudaDriver.open({ driver, env: {} }); console.log('opened'); }
        catch (error) { console.log(error.code, error.message, '|', error.hint); }
      }`;
    const names = ['/no/driver.so', 'libm.so.6', 'sim'];
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script, JSON.stringify(names)], {
      encoding: 'utf8',
    });
    const [missing, other, simulated] = stdout.split('\n');
    t.match(missing, /^ML_CUDA_DRIVER .*\/no\/driver\.so.*\| install the NVIDIA driver/);
    t.match(other, /^ML_CUDA_DRIVER .*libm\.so\.6 has no cuInit: it is not a CUDA driver/);
    t.equal(simulated, 'opened', 'a failure does not stand in the way of another driver');
  })(t),
);

t.test('statuses become codes with something to do', async (t) => {
  const failure = (status: number, errorName: string) =>
    Object.assign(new Error('x'), { call: 'cuCall', status, errorName, detail: 'why' });
  const cases: [number, string, string, RegExp][] = [
    [2, 'CUDA_ERROR_OUT_OF_MEMORY', 'ML_CUDA_MEMORY', /smaller batch/],
    [34, 'CUDA_ERROR_STUB_LIBRARY', 'ML_CUDA_DRIVER', /stub/],
    [100, 'CUDA_ERROR_NO_DEVICE', 'ML_CUDA_DEVICE', /nvidia-smi/],
    [222, 'CUDA_ERROR_UNSUPPORTED_PTX_VERSION', 'ML_CUDA_PTX', /update/],
    [700, 'CUDA_ERROR_ILLEGAL_ADDRESS', 'ML_CUDA_KERNEL', /simulator/],
    [999, 'CUDA_ERROR_UNKNOWN', 'ML_CUDA_CALL', /./],
  ];
  for (const [status, name, code, hint] of cases) {
    t.match(cudaError(failure(status, name)), { code, message: new RegExp(`${name}.*${status}.*why`), hint });
  }
  const other = new Error('other');
  t.equal(cudaError(other), other);
});

t.test('arguments are checked against the PTX before a launch', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const module = driver.loadModule('faults', fixture('faults.ptx'));
    const kernel = module.kernel('takesMuch');
    using stream = driver.stream();
    const out = driver.alloc(64);
    const pair = new Uint8Array(16);
    new DataView(pair.buffer).setFloat64(0, 6.5, true);
    new DataView(pair.buffer).setInt32(8, -7, true);
    const right: KernelArgument[] = [255, -300, 7e4, -(2n ** 40n), 1.5, 2.25, pair, out];
    const at = { grid: 1, block: 1 };
    kernel.launch(stream, at, right);
    stream.synchronize();
    t.same([...download(driver, out, new Float64Array(8))], [255, -300, 7e4, -(2 ** 40), 1.5, 2.25, 6.5, -7]);
    const wrong: [number, KernelArgument, RegExp][] = [
      [0, 256, /has 8 bits, got 256/],
      [1, 1.5, /is an integer, got 1\.5/],
      [2, 2 ** 32, /has 32 bits/],
      [2, out, /has 32 bits and cannot hold a buffer/],
      [4, 1n, /floating-point/],
      [6, 1, /structure: give 16 bytes/],
      [6, new Uint8Array(8), /has 16 bytes, got 8/],
      [7, Number.NaN, /is an integer, got NaN/],
    ];
    for (const [index, value, message] of wrong) {
      t.throws(() => kernel.launch(stream, at, right.with(index, value)), { code: 'ML_CUDA_LAUNCH', message });
    }
    t.throws(() => kernel.launch(stream, at, right.slice(1)), { message: /takes 8 arguments, got 7/, hint: /\.u8/ });
    t.throws(() => kernel.launch(stream, { grid: 0, block: 1 }, right), { message: /grid/ });
    t.throws(() => module.kernel('sixtyFour').prepare({ grid: 1, block: 65 }, [out]), {
      message: /65 threads, at most 64/,
    });
    t.throws(() => kernel.launch(stream, { grid: 1, block: 1, sharedBytes: 50_000 }, right), {
      code: 'ML_CUDA_CALL',
      message: /49152/,
    });
    t.throws(() => module.kernel('nowhere'), { code: 'ML_CUDA_LAUNCH', message: /no such kernel/ });
    const prepared = kernel.prepare(at, right);
    prepared.set(2, -1);
    prepared.launch(stream);
    stream.synchronize();
    t.equal(download(driver, out, new Float64Array(8))[2], -1);
    t.match(module.kernel('sixtyFour').attributes, { threadsMax: 64 });
  })(t),
);

t.test('memory: shared and pinned buffers, bounds, limits, and what is left after freeing', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    using stream = driver.stream();
    const before = driver.memory().freeBytes;
    const shared = new Float32Array(new SharedArrayBuffer(4096), 256, 100).fill(2.5);
    const buffer = driver.alloc(400);
    stream.upload(buffer, shared);
    const pinned = driver.allocPinned(400);
    stream.download(new Float32Array(pinned), buffer);
    stream.synchronize();
    t.same(new Float32Array(pinned), shared.slice());
    t.throws(() => stream.upload(buffer, shared, 4), { code: 'ML_BOUNDS' });
    stream.fillWords(buffer, 0x3f800000, 40, 10);
    stream.copy(buffer, 0, buffer, 40, 40);
    await stream.finished();
    t.same(download(driver, buffer, new Float32Array(20)), new Float32Array(20).fill(1));
    const view = new Uint8Array(pinned);
    driver.freePinned(pinned);
    t.equal(view.byteLength, 0, 'a view of freed memory is empty');
    driver.register(shared);
    t.throws(() => driver.register(shared.subarray(10)), { message: /ALREADY_REGISTERED/ });
    driver.unregister(shared);
    t.throws(() => driver.unregister(shared), { message: /NOT_REGISTERED/ });
    buffer.free();
    buffer.free();
    t.throws(() => buffer.address, { code: 'ML_CLOSED' });
    t.equal(driver.memory().freeBytes, before);
    driver.simulator.configure({ memoryBytes: 1e6 });
    t.throws(() => driver.alloc(2e6), { code: 'ML_CUDA_MEMORY', message: /2000000 bytes were asked for/ });
    t.throws(() => driver.alloc(0), { code: 'ML_CUDA_CALL' });
    t.throws(() => driver.simulator.configure({ seed: -1 }), { code: 'ML_FLAG' });
  })(t),
);

t.test('lazy streams do nothing before they are waited for, and events order them', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const kernel = driver.loadModule('faults', fixture('faults.ptx')).kernel('readsAll');
    const [first, second] = [driver.stream(), driver.stream()];
    const [input, output] = [upload(driver, new Int32Array(32)), driver.alloc(128)];
    driver.simulator.configure({ lazyStreams: true });
    const [source, found] = [4, 0].map((value) => new Int32Array(driver.allocPinned(128)).fill(value)) as [
      Int32Array<ArrayBuffer>,
      Int32Array<ArrayBuffer>,
    ];
    const copied = driver.event();
    first.upload(input, source);
    first.record(copied);
    second.wait(copied);
    kernel.launch(second, { grid: 1, block: 32 }, [input, output]);
    second.download(found, output);
    t.same([found[0], copied.isDone(), second.isDone()], [0, false, false], 'nothing has run');
    second.synchronize();
    t.same(
      [found[0], copied.isDone(), second.isDone()],
      [5, true, true],
      'the other stream ran as far as it was needed',
    );

    // Polling comes to an end as well.
    source.fill(9);
    first.upload(input, source);
    let polls = 0;
    while (!first.isDone()) polls++;
    t.ok(polls > 0);

    // A missing wait shows: the second stream reads what was there before.
    source.fill(20);
    first.upload(input, source);
    kernel.launch(second, { grid: 1, block: 32 }, [input, output]);
    second.download(found, output);
    second.synchronize();
    t.equal(found[0], 10);
    // And so does a buffer that is written again too early.
    source.fill(30);
    first.synchronize();
    t.equal(download(driver, input, new Int32Array(32))[0], 30);
    driver.simulator.configure({ lazyStreams: false });

    const [begin, end] = [driver.event({ timing: true }), driver.event({ timing: true })];
    first.record(begin);
    kernel.launch(first, { grid: 1, block: 32 }, [input, output]);
    first.record(end);
    end.synchronize();
    t.ok(end.elapsedMs(begin) > 0, 'the launch between them took time');
    t.equal(begin.elapsedMs(end), -end.elapsedMs(begin));
    t.throws(() => copied.elapsedMs(begin), { code: 'ML_CUDA_CALL' });
    for (const event of [copied, begin, end]) event.destroy();
    for (const stream of [first, second]) stream.destroy();
    t.throws(() => first.synchronize(), { code: 'ML_CUDA_CALL', message: /INVALID_HANDLE/ });
  })(t),
);

t.test('threads work side by side on memory they share', (t) =>
  withSimulated<typeof t>(async (t, driver) => {
    const count = 1024;
    const memory = new SharedArrayBuffer(4 * count * 4);
    const all = new Int32Array(memory).fill(1);
    const script = `
      const { workerData, parentPort } = require('node:worker_threads');
      import('${root}build/src/runtime/backends/cuda/driver.js').then(async ({ CudaDriver }) => {
        const { memory, index, count, ptx } = workerData;
        const driver = CudaDriver.open({ driver: 'sim' });
        const kernel = driver.loadModule('faults', ptx).kernel('readsAll');
        const stream = driver.stream();
        const view = new Int32Array(memory, index * count * 4, count);
        const [input, output] = [driver.alloc(count * 4), driver.alloc(count * 4)];
        for (let round = 0; round < 25; round++) {
          stream.upload(input, view);
          kernel.launch(stream, { grid: 1, block: count }, [input, output]);
          stream.download(view, output);
          if (round % 2) stream.synchronize(); else await stream.finished();
        }
        input.free(); output.free(); stream.destroy();
      });`;
    const threads = Array.from({ length: 4 }, (_, index) => {
      const worker = new Worker(script, {
        eval: true,
        workerData: { memory, index, count, ptx: fixture('faults.ptx') },
      });
      return new Promise<number>((resolve, reject) => worker.on('error', reject).on('exit', resolve));
    });
    t.same(await Promise.all(threads), [0, 0, 0, 0]);
    t.ok(all.every((value) => value === 26));
    driver.synchronize();
  })(t),
);

t.test('without a compiler the build says so in one line and does not fail', async (t) => {
  const home = t.testdir();
  for (const part of ['.ci', 'cuda/build.mjs', 'cuda/addon/binding.gyp', 'cuda/addon/src', 'cuda/sim']) {
    cpSync(join(root, part), join(home, part), { recursive: true });
  }
  const run = (...flags: string[]) => {
    const env = { PATH: join(home, 'nothing') };
    return spawnSync(process.execPath, [join(home, 'cuda/build.mjs'), ...flags], { encoding: 'utf8', env });
  };
  const message = 'cuda: the GPU backend is not built (there is no C++ compiler); the CPU backend works\n';
  if (process.platform === 'linux') t.match(run('--optional'), { status: 0, stdout: message, stderr: '' });
  t.equal(run('--optional').status, 0);
  t.equal(run().status, 1, 'asked for by name it fails');
  t.notOk(existsSync(join(home, 'cuda/addon/build')));
});
