/**
 * @file Runs a CUDA kernel in the simulator on a copy of the memory its reference works on, and compares all that both
 * left.
 *
 * Everything allocated since `begin` goes to one device buffer; addresses become those of the copy. What lies between
 * the operands is compared too, so a store beside a result is a difference.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Views } from '../../src/memory/views.js';
import type { DeviceBuffer } from '../../src/runtime/backends/cuda/device-buffer.js';
import { BLOCK_THREADS, CUDA_KERNELS } from '../../src/runtime/backends/cuda/launch-table.js';
import type { PtxModule } from '../../src/runtime/backends/cuda/ptx-module.js';
import type { SimulatorControls } from '../../src/runtime/backends/cuda/simulator.js';
import type { CudaStream } from '../../src/runtime/backends/cuda/stream.js';
import { KERNELS } from '../../src/runtime/kernels/kernels.js';
import { identical, type Same } from '../kernels/both.js';
import { KernelHarness } from '../kernels/harness.js';
import { KERNEL_TESTS } from './kernel-tests.js';
import { type SimulatedDriver, withSimulated } from './simulated.js';

const root = new URL('../../../', import.meta.url);
export const ptxOf = (module: string) => readFileSync(new URL(`cuda/ptx/${module}.ptx`, root), 'utf8');

/** A reference kernel: memory, then operands. */
export type Plain = (m: Views, ...operands: number[]) => unknown;
/**
 * An operand of the CUDA kernel: a number as it is, or memory of its own that the reference has not. Addresses in a
 * BigUint64Array are moved to the copy; a function makes words from the distance between the copy and the memory.
 */
export type DeviceOperand = number | BigUint64Array | Uint32Array | ((distance: number) => Uint32Array);

interface Memory {
  readonly views: Views;
  readonly arena: { mark(): number };
  readonly wasm?: object;
}

export const SCHEDULES = 20;

/** Schedule `index`: blocks one by one or interleaved, short and long turns, lanes together or one by one. */
export function schedule(index: number): SimulatorControls {
  return {
    seed: index,
    residentBlocks: [1, 4, 3][index % 3]!,
    quantum: [4096, 64, 16, 7][index % 4]!,
    splitLanes: index % 5 === 4,
  };
}

export class CudaTwin {
  readonly driver: SimulatedDriver;
  readonly #stream: CudaStream;
  readonly #modules = new Map<string, PtxModule>();
  readonly #runs = new Map<string, number>();

  constructor(driver: SimulatedDriver) {
    this.driver = driver;
    this.#stream = driver.stream();
  }

  /** How often each kernel ran. */
  get runs(): ReadonlyMap<string, number> {
    return this.#runs;
  }

  kernel(name: string) {
    const module = CUDA_KERNELS.get(name)!.module;
    let loaded = this.#modules.get(module);
    if (loaded === undefined) {
      loaded = this.driver.loadModule(module, ptxOf(module));
      this.#modules.set(module, loaded);
    }
    return loaded.kernel(name);
  }

  /** Every call of a kernel takes its next schedule, and every third one a grid that is not the one of the table. */
  #next(name: string, operands: readonly number[]): readonly [number, number] {
    const run = this.#runs.get(name) ?? 0;
    this.#runs.set(name, run + 1);
    this.driver.simulator.configure(schedule(run % SCHEDULES));
    const kernel = CUDA_KERNELS.get(name)!;
    return kernel.walks && run % 3 === 2 ? [1 + (run % 4), 1] : kernel.grid(operands, 40);
  }

  /** Launches `name` over the bytes from `begin` to `end` of `m`, which then hold what it left. */
  launch(m: Views, begin: number, end: number, name: string, operands: readonly DeviceOperand[]): void {
    const { operands: kinds } = CUDA_KERNELS.get(name)!;
    const bytes = m.u8.slice(begin, end);
    const memory = this.driver.alloc(Math.max(4, bytes.length));
    const extra: DeviceBuffer[] = [];
    const args = operands.map((operand, i) => {
      if (typeof operand === 'number') {
        return kinds[i] !== 'p' || operand === 0 ? operand : memory.address + (operand - begin);
      }
      const values = placed(operand, memory.address - begin);
      const buffer = this.driver.alloc(Math.max(8, values.byteLength));
      if (values.length > 0) this.driver.upload(buffer, values);
      extra.push(buffer);
      return buffer.address;
    });
    const numbers = operands.map((operand) => (typeof operand === 'number' ? operand : 0));
    if (bytes.length > 0) this.driver.upload(memory, bytes);
    try {
      this.kernel(name).launch(this.#stream, { grid: this.#next(name, numbers), block: BLOCK_THREADS }, args);
      this.#stream.synchronize();
      if (bytes.length > 0) this.driver.download(bytes, memory);
    } finally {
      memory.free();
      for (const buffer of extra) buffer.free();
    }
    m.u8.set(bytes, begin);
  }

  /**
   * Runs the CUDA kernel, the WASM one of that name if there is one, and the reference; compares all that each left,
   * and leaves what the reference left. `operands` are those of CUDA where they differ.
   */
  run(
    h: Memory,
    begin: number,
    name: string,
    plain: Plain,
    args: readonly number[],
    same: Same = identical,
    operands: readonly DeviceOperand[] = args,
    wasmSame: Same = same,
  ): void {
    const end = Math.ceil(h.arena.mark() / 8) * 8;
    const image = h.views.u8.slice(begin, end);
    const left = (side: () => void): Uint8Array => {
      h.views.u8.set(image, begin);
      side();
      return h.views.u8.slice(begin, end);
    };
    const cuda = left(() => this.launch(h.views, begin, end, name, operands));
    const twin = (h.wasm as Record<string, ((...args: number[]) => unknown) | undefined> | undefined)?.[name];
    const wasm = KERNELS.has(name) && twin !== undefined ? left(() => twin(...args)) : null;
    const wanted = left(() => plain(h.views, ...args));
    const where = `${name}(${args}) in run ${this.#runs.get(name)! - 1}`;
    compare(`${where}: CUDA`, cuda, wanted, same, begin);
    if (wasm !== null) compare(`${where}: WASM`, wasm, wanted, wasmSame, begin);
  }
}

function compare(what: string, found: Uint8Array, wanted: Uint8Array, same: Same, begin: number): void {
  const [left, right] = [new Float32Array(found.buffer), new Float32Array(wanted.buffer)];
  const [leftBits, rightBits] = [new Uint32Array(found.buffer), new Uint32Array(wanted.buffer)];
  for (let i = 0; i < left.length; i++) {
    if (leftBits[i] === rightBits[i] || same(left[i]!, right[i]!)) continue;
    const values = `${left[i]} (${leftBits[i]}), the reference ${right[i]} (${rightBits[i]})`;
    throw new Error(`${what} has at byte ${begin + i * 4} ${values}`);
  }
}

/** What goes to the device for an operand with memory of its own. */
function placed(operand: Exclude<DeviceOperand, number>, distance: number): BigUint64Array | Uint32Array {
  if (typeof operand === 'function') return operand(distance);
  return operand instanceof BigUint64Array ? operand.map((at) => BigInt(distance) + at) : operand;
}

/** Near in size: the values of smooth functions far out are tiny, and their relative error does not matter. */
export const near =
  (relative: number, absolute: number): Same =>
  (cuda, plain) =>
    Object.is(cuda, plain) || cuda === plain || Math.abs(cuda - plain) <= absolute + relative * Math.abs(plain);

interface Asserting {
  plan(count: number, reason: string): void;
  ok(value: unknown, message: string): unknown;
}

/** Kernels that met all schedules in this process. */
const metHere = new Set<string>();

/** A file that leaves out a kernel which kernel-tests.ts says it has a test of fails when it ends. */
process.on('exit', () => {
  const missing = (KERNEL_TESTS[basename(process.argv[1]!, '.test.js')] ?? []).filter((name) => !metHere.has(name));
  if (metHere.size === 0 || missing.length === 0) return;
  console.error(`no test of ${missing.join(', ')} ran, against what kernel-tests.ts says`);
  process.exitCode = 1;
});

/**
 * A test with the simulated driver and 16 MiB of memory for references; skipped, loudly, where the simulator is not
 * built. Every kernel that it runs has to meet all schedules.
 */
export function withTwin(body: (twin: CudaTwin, h: KernelHarness) => void) {
  return withSimulated<Asserting>(async (t, driver) => {
    const twin = new CudaTwin(driver);
    body(twin, await KernelHarness.create(16 << 20));
    for (const [name, runs] of twin.runs) t.ok(runs >= SCHEDULES, `${name} ran under ${runs} schedules`);
    for (const name of twin.runs.keys()) metHere.add(name);
  });
}
