/**
 * @file What could take a process down, done in a process of its own: `addon-child.js <what>`; addon.test.ts runs it.
 *
 * It prints what it has seen as JSON, on the last line.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { CudaDriver } from '../../src/runtime/backends/cuda/driver.js';
import { loadNative, type NativeCuda } from '../../src/runtime/backends/cuda/native.js';
import { stream as draws } from '../kernels/both.js';

const [, file, what, size = '1'] = process.argv as [string, string, string, string?];
const MIB = 2 ** 20;

/** A kernel that takes a while, so many turns of one warp, and one that writes a word. */
const SLOW = `.version 7.0
.target sm_75
.address_size 64
.visible .entry slow(.param .u32 turns)
{
  .reg .u32 left;
  .reg .pred more;
  ld.param.u32 left, [turns];
again:
  sub.u32 left, left, 1;
  setp.ne.u32 more, left, 0;
  @more bra again;
  ret;
}
.visible .entry fill(.param .u64 to, .param .u32 value)
{
  .reg .u64 at;
  .reg .u32 word;
  ld.param.u64 at, [to];
  ld.param.u32 word, [value];
  st.global.u32 [at], word;
  ret;
}
`;

/** Work of a worker that is ended while promises of the addon are open. */
async function waitForever(): Promise<void> {
  const driver = CudaDriver.open({ driver: 'sim' });
  const stream = driver.stream();
  const slow = driver.loadModule('slow', SLOW).kernel('slow').prepare({ grid: 1, block: 32 }, [100_000]);
  const buffer = driver.alloc(1024);
  stream.fill(buffer, 7);
  const host = new Uint8Array(1024);
  const event = driver.event();
  slow.launch(stream);
  stream.download(new Uint8Array(driver.allocPinned(1024)), buffer);
  stream.record(event);
  if (workerData.fails) driver.simulator!.configure({ launchesToFault: 1 });
  slow.launch(stream);
  const pending = [stream.finished(), event.finished(), driver.downloadLater(host, buffer)];
  parentPort!.postMessage('pending');
  await Promise.allSettled(pending);
}

/** Takes of everything and gives nothing back. */
function leave(): void {
  const driver = CudaDriver.open({ driver: 'sim' });
  const stream = driver.stream();
  const buffer = driver.alloc(MIB);
  driver.loadModule('slow', SLOW).kernel('slow').launch(stream, { grid: 1, block: 32 }, [10]);
  const pinned = new Uint8Array(driver.allocPinned(MIB));
  const shared = new Uint8Array(new SharedArrayBuffer(MIB));
  driver.register(shared);
  stream.upload(buffer, shared);
  stream.download(pinned, buffer);
  stream.record(driver.event());
}

function endOf(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));
}

/** Ends workers in the midst of things, some of which are about to fail; what the driver has left afterwards. */
async function terminate(rounds: number, fails: (round: number) => boolean = () => false) {
  const driver = CudaDriver.open({ driver: 'sim' });
  driver.simulator!.configure({ lazyStreams: true });
  const before = driver.memory().freeBytes;
  for (let round = 0; round < rounds; round++) {
    const workers = [0, 1].map((k) => new Worker(file, { argv: ['wait'], workerData: { fails: fails(round + k) } }));
    await Promise.all(
      workers.map(async (worker) => {
        // A fault of the other one may be met before its own promises are open.
        const ended = fails(round) || fails(round + 1) ? endOf(worker).catch(() => {}) : endOf(worker);
        await Promise.race([new Promise((resolve) => worker.once('message', resolve)), ended]);
        await worker.terminate();
        await ended;
      }),
    );
    driver.simulator!.reset();
    driver.simulator!.configure({ launchesToFault: 0 });
  }
  return { rounds, lost: before - driver.memory().freeBytes };
}

/** Workers that end without freeing, each of which needs all that can be pinned. */
async function leaks(rounds: number) {
  const driver = CudaDriver.open({ driver: 'sim' });
  driver.simulator!.configure({ lazyStreams: true, pinnedBytes: 2 * MIB });
  const before = driver.memory().freeBytes;
  const codes: number[] = [];
  for (let round = 0; round < rounds; round++) codes.push(await endOf(new Worker(file, { argv: ['leave'] })));
  return { codes, lost: before - driver.memory().freeBytes };
}

/** Memory that nobody holds, far more than there is; needs --expose-gc. What a launch holds stays. */
async function collect(rounds: number) {
  const driver = CudaDriver.open({ driver: 'sim' });
  driver.simulator!.configure({ lazyStreams: true, pinnedBytes: 8 * MIB, memoryBytes: 12 * MIB });
  const fill = driver.loadModule('slow', SLOW).kernel('fill');
  const prepared = fill.prepare({ grid: 1, block: 32 }, [driver.alloc(4096), 7]);
  const [begun, stream] = [driver.memory().freeBytes, driver.stream()];
  for (let round = 0; round < rounds; round++) {
    forget(driver);
    prepared.launch(stream);
    if (round % 4 < 3) continue;
    // Finalizers are called between tasks, and a stream lets go of the memory of its copies only then.
    for (let turn = 0; turn < 3; turn++) {
      globalThis.gc!();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  stream.synchronize();
  return { rounds, lost: begun - driver.memory().freeBytes };
}

/** A copy that is under way when its stream, event and both memories are let go. */
function forget(driver: CudaDriver): void {
  const stream = driver.stream();
  stream.upload(driver.alloc(MIB), new Uint8Array(driver.allocPinned(MIB)));
  stream.record(driver.event());
}

const STRANGE: readonly unknown[] = [
  undefined,
  null,
  true,
  'text',
  '',
  Symbol('s'),
  7n,
  0,
  1,
  -1,
  1.5,
  12_345,
  2 ** 45,
  2 ** 53,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  {},
  [],
  () => {},
  new Proxy({}, {}),
  new Proxy(new Uint8Array(8), {}),
  new ArrayBuffer(8),
  new SharedArrayBuffer(8),
  new Uint8Array(8),
  new DataView(new ArrayBuffer(4)),
  detached(),
];

function detached(): Uint8Array {
  const view = new Uint8Array(8);
  structuredClone(view.buffer, { transfer: [view.buffer] });
  return view;
}

/** Calls of a function with drawn arguments; how many there were and how many of them threw. */
function callStrangely(native: NativeCuda, name: keyof NativeCuda, count: number, next: () => number) {
  let thrown = 0;
  for (let k = 0; k < count; k++) {
    const args = Array.from({ length: Math.floor(next() * 6) }, () => STRANGE[Math.floor(next() * STRANGE.length)]);
    try {
      const answer = (native[name] as (...args: unknown[]) => unknown)(...args);
      if (answer instanceof Promise) answer.catch(() => {});
    } catch (error) {
      if (!(error instanceof Error)) throw new Error(`${name} threw what is no error`);
      thrown++;
    }
  }
  return thrown;
}

/** Every function of the addon, before a driver is open and after it, with arguments that it does not take. */
function types(seed: number) {
  const native = loadNative();
  const names = Object.keys(native) as (keyof NativeCuda)[];
  const next = draws(seed);
  const codeOf = (call: () => unknown) => {
    try {
      call();
      return 'none';
    } catch (error) {
      return `${(error as Error).name} ${(error as { code?: string }).code}`;
    }
  };
  const closed = names.map((name) => [name, codeOf(() => (native[name] as () => unknown)())]);
  const driver = CudaDriver.open({ driver: 'sim' });
  const without = names.map((name) => [name, codeOf(() => (native[name] as () => unknown)())]);
  const symbols = names.map((name) => [
    name,
    codeOf(() => (native[name] as (...a: unknown[]) => unknown)(Symbol('s'))),
  ]);
  const thrown = names.map((name) => callStrangely(native, name, 300, next));
  driver.simulator!.reset();
  // Memory of somebody else is not freed, and stays as it is.
  const foreign = new ArrayBuffer(8);
  const freed = codeOf(() => driver.freePinned(foreign));
  const buffer = driver.alloc(8);
  driver.upload(buffer, Uint8Array.of(1, 2, 3));
  const found = new Uint8Array(3);
  driver.download(found, buffer);
  return { closed, without, symbols, thrown, freed: [freed, foreign.byteLength], found: [...found] };
}

const MAIN: Readonly<Record<string, (size: number) => unknown>> = {
  terminate: (rounds) => terminate(rounds),
  failing: (rounds) => terminate(rounds, (round) => round % 3 !== 0),
  leaks,
  collect,
  types,
};
if (isMainThread) console.log(JSON.stringify(await MAIN[what]!(Number(size))));
else if (what === 'wait') await waitForever();
else leave();
