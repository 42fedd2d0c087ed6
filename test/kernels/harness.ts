/**
 * @file Puts a WASM kernel and its plain TypeScript reference side by side over one memory.
 *
 * A test lays its inputs out with `put*`, runs one version, copies the outputs, runs the other on the same inputs, and
 * compares.
 */
import { Arena } from '../../src/memory/arena.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { Views, view } from '../../src/memory/views.js';
import { instantiateKernels } from '../../src/runtime/backends/wasm/instantiate-kernels.js';
import { compileKernels } from '../../src/runtime/backends/wasm/load-kernels.js';
import type { WasmKernels } from '../../src/runtime/backends/wasm/wasm-kernels.js';

export class KernelHarness {
  readonly memory: WebAssembly.Memory;
  readonly wasm: WasmKernels;
  readonly views: Views;
  readonly arena: Arena;

  private constructor(memory: WebAssembly.Memory, wasm: WasmKernels) {
    this.memory = memory;
    this.wasm = wasm;
    this.views = new Views(memory.buffer);
    // The first page stays unused, so that a null pointer written through shows up in no buffer.
    this.arena = new Arena('test', 65536, memory.buffer.byteLength);
  }

  /** Over the plain kernels unless another build is given. */
  static async create(bytes = 64 << 20, module?: WebAssembly.Module): Promise<KernelHarness> {
    const memory = createSharedMemory(bytes);
    return new KernelHarness(memory, instantiateKernels(module ?? (await compileKernels()), memory));
  }

  get buffer(): SharedArrayBuffer {
    return this.views.buffer;
  }

  /** Frees everything allocated by `body`. */
  scope<T>(body: () => T): T {
    const mark = this.arena.mark();
    try {
      return body();
    } finally {
      this.arena.release(mark);
    }
  }

  /** `bytes` zeroed bytes. `skew` moves the block off its alignment to exercise unaligned access. */
  alloc(bytes: number, skew = 0): number {
    const at = this.arena.alloc(bytes + skew + 64, 'block');
    this.views.u8.fill(0, at, at + bytes + skew + 64);
    return at + skew;
  }

  putF32(values: ArrayLike<number>, skew = 0): number {
    const at = this.alloc(values.length * 4, skew);
    view(Float32Array, this.buffer, at, values.length).set(Array.from(values));
    return at;
  }

  putI32(values: ArrayLike<number>): number {
    const at = this.alloc(values.length * 4);
    view(Int32Array, this.buffer, at, values.length).set(Array.from(values));
    return at;
  }

  putI64(values: ArrayLike<bigint>): number {
    const at = this.alloc(values.length * 8);
    view(BigInt64Array, this.buffer, at, values.length).set(Array.from(values));
    return at;
  }

  f32(at: number, count: number): Float32Array {
    return view(Float32Array, this.buffer, at, count).slice();
  }

  i32(at: number, count: number): Int32Array {
    return view(Int32Array, this.buffer, at, count).slice();
  }

  i64(at: number, count: number): BigInt64Array {
    return view(BigInt64Array, this.buffer, at, count).slice();
  }
}
