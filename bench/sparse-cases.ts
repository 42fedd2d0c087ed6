/** @file The cases of bench/sparse.ts: what each kernel works on, and what its native twin is called with. */
import { Arena } from '../src/memory/arena.js';
import { mix64 } from '../src/memory/hash.js';
import { createSharedMemory } from '../src/memory/shared-memory.js';
import { view } from '../src/memory/views.js';
import { instantiateKernels } from '../src/runtime/backends/wasm/instantiate-kernels.js';
import { compileKernels } from '../src/runtime/backends/wasm/load-kernels.js';
import type { WasmKernels } from '../src/runtime/backends/wasm/wasm-kernels.js';

/** Ids of all batches of a unique case together. */
const BATCHED_IDS = 131072;

export interface Case {
  readonly name: string;
  /** Things one run handles: ids, values or pieces. */
  readonly items: number;
  readonly run: () => void;
  /** What the native twins read as their file. */
  readonly input: Uint8Array;
  /** Twin → arguments around the file name. */
  readonly twins: readonly { readonly label: string; readonly args: readonly [string, ...string[]] }[];
  /** Smallest accepted native/WASM time ratio per twin; only shown. */
  readonly bar?: number;
}

/** A generator of u32, the same for a seed. */
function randomU32(seed: number): () => number {
  let state = seed >>> 0;
  const lanes = new Uint32Array(2);
  return () => {
    state = (state + 1) >>> 0;
    mix64(state, seed, lanes);
    return lanes[0]!;
  };
}

export class SparseBench {
  readonly #memory: WebAssembly.Memory;
  readonly #kernels: WasmKernels;
  readonly #random: () => number;

  private constructor(memory: WebAssembly.Memory, kernels: WasmKernels, seed: number) {
    this.#memory = memory;
    this.#kernels = kernels;
    this.#random = randomU32(seed);
  }

  static async create(bytes: number, seed: number): Promise<SparseBench> {
    const memory = createSharedMemory(bytes);
    return new SparseBench(memory, instantiateKernels(await compileKernels(), memory), seed);
  }

  /** Each case lays its blocks out from the start of the memory: cases are set up one after the other. */
  #arena(): Arena {
    return new Arena('bench', 65536, this.#memory.buffer.byteLength);
  }

  #bytes(view: ArrayBufferView): Uint8Array {
    return new Uint8Array(this.#memory.buffer, view.byteOffset, view.byteLength).slice();
  }

  unique(n: number, distinct: number): Case {
    const arena = this.#arena();
    const buffer = this.#memory.buffer;
    const cells = this.#kernels.uniqueTableCells(n);
    // Several batches in turn: one met again at once would train the branch predictor, which no training step can.
    const total = n * Math.max(1, Math.floor(BATCHED_IDS / n));
    const ids = view(Uint32Array, buffer, arena.alloc(total * 8, 'ids'), total * 2);
    const lanes = new Uint32Array(2);
    for (let i = 0; i < total; i++) {
      mix64(this.#random() % distinct, 77, lanes);
      ids.set(lanes, 2 * i);
    }
    const [uids, inverse] = [arena.alloc(n * 8, 'uids'), arena.alloc(n * 4, 'inverse')];
    const table = arena.alloc(cells * 16, 'table');
    new Uint8Array(buffer, table, cells * 16).fill(0);
    let generation = 0;
    let at = 0;
    return {
      name: `unique ${n} ids of ${distinct}`,
      items: n,
      run: () => {
        this.#kernels.uniqueI64(ids.byteOffset + at * 8, n, table, cells - 1, ++generation, 0, uids, inverse);
        at = at + 2 * n <= total ? at + n : 0;
      },
      input: this.#bytes(ids),
      twins: [
        { label: 'C++ sort', args: ['unique-sort', String(n)] },
        { label: 'C++ hash', args: ['unique-hash', String(n)] },
      ],
    };
  }

  pool(bags: number, bag: number, unique: number, dim: 16 | 17 | 32 | 64): Case {
    const arena = this.#arena();
    const buffer = this.#memory.buffer;
    const n = bags * bag;
    const inverse = view(Uint32Array, buffer, arena.alloc(n * 4, 'inverse'), n);
    inverse.forEach((_, i) => {
      inverse[i] = this.#random() % unique;
    });
    inverse[0] = unique - 1;
    const splits = view(Int32Array, buffer, arena.alloc(bags * 4 + 4, 'splits'), bags + 1);
    splits.forEach((_, r) => {
      splits[r] = r * bag;
    });
    const weights = view(Float32Array, buffer, arena.alloc(unique * dim * 4, 'weights'), unique * dim).fill(0.5);
    const pointers = view(Uint32Array, buffer, arena.alloc(unique * 4, 'pointers'), unique);
    pointers.forEach((_, u) => {
      pointers[u] = weights.byteOffset + u * dim * 4;
    });
    const out = arena.alloc(bags * dim * 4, 'out');
    return {
      name: `pool ${bags} bags of ${bag}, dim ${dim}, ${unique} rows`,
      items: n,
      run: () =>
        this.#kernels.poolSumF32(pointers.byteOffset, inverse.byteOffset, splits.byteOffset, bags, dim, out, dim),
      input: this.#bytes(inverse),
      twins: [{ label: 'C++ loop', args: ['pool', String(dim), String(bag)] }],
    };
  }

  copy(kind: 'pack' | 'unpack', pieceBytes: number, totalBytes: number, bar: number): Case {
    const arena = this.#arena();
    const buffer = this.#memory.buffer;
    const n = Math.max(1, Math.floor(totalBytes / pieceBytes));
    const gap = pieceBytes + 64;
    const order = Uint32Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) {
      const j = this.#random() % (i + 1);
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    const spread = arena.alloc(n * gap, 'spread');
    const packed = arena.alloc(n * pieceBytes, 'packed');
    new Uint8Array(buffer, spread, n * gap + n * pieceBytes).fill(1);
    const words = view(Uint32Array, buffer, arena.alloc(n * 12, 'descriptors'), n * 3);
    for (let i = 0; i < n; i++) {
      const [far, near] = [spread + order[i]! * gap, packed + i * pieceBytes];
      words.set(kind === 'pack' ? [far, near, pieceBytes] : [near, far, pieceBytes], i * 3);
    }
    return {
      name: `${kind} ${n} pieces of ${pieceBytes} B`,
      items: n,
      run: () => this.#kernels.copyPieces(words.byteOffset, n),
      input: new Uint8Array(order.buffer),
      twins: [{ label: 'C++ memcpy', args: [kind, String(pieceBytes)] }],
      bar,
    };
  }
}
