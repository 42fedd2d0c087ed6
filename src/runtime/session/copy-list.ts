/**
 * @file Copies of memory that the threads of a session make together: a command beside those of steps.
 *
 * What waits in a queue goes to its slot this way, and rows and gradients that are sent to where they are packed.
 */
import { CONTEXT_BYTES, STAGE, STAGE_KIND, STAGE_WORDS } from '../../memory/program-layout.js';
import { COPY, COPY_ROWS, COPY_ROWS_WORDS, COPY_WORDS, wordsOf } from '../../memory/record-layout.js';
import type { WasmKernels } from '../backends/wasm/wasm-kernels.js';
import { Code } from '../compile/code.js';
import { type ContextTarget, writeContexts } from '../compile/write-contexts.js';
import { KERNEL } from '../kernels/kernels.js';
import type { Command } from '../pool/thread-pool.js';
import { DescriptorList } from './descriptor-list.js';

/** What is longer is cut into a part for each thread. */
const CUT_BYTES = 16_384;
const NO_FILES = { begin: 0, stride: 0 };

/** Rows that lie apart. */
export interface RowsCopy {
  readonly rows: number;
  /** Of a row, and from one row to the next; all are multiples of four. */
  readonly bytes: number;
  readonly fromBytes: number;
  readonly toBytes: number;
}

export class CopyList {
  /** Runs the copies that were added since `clear`. */
  readonly command: Command;
  readonly #u32: Uint32Array;
  readonly #threads: number;
  readonly #pieces: DescriptorList;
  readonly #rows: DescriptorList;
  /** Copies so far. */
  #added = 0;

  constructor(target: ContextTarget, traceName: string) {
    const { views, arena, plan, traceNames } = target;
    this.#u32 = views.u32;
    this.#threads = plan.threads;
    const code = new Code();
    this.#pieces = new DescriptorList(code, views.u32, arena, COPY_WORDS);
    this.#rows = new DescriptorList(code, views.u32, arena, COPY_ROWS_WORDS);
    const name = traceNames.id(traceName, 'phase');
    for (const [kernel, { descriptors, count }] of [
      [KERNEL.copyPieces, this.#pieces],
      [KERNEL.copyMatrices, this.#rows],
    ] as const) {
      code.emit(kernel, { descriptors, count }, { traceName: name });
    }
    const { begin, end } = code.writeCode(views, arena, traceName)[0]!;
    const stage = { kind: STAGE_KIND.threads, code: begin, codeEnd: end, traceName: name };
    const stages = arena.alloc(STAGE_WORDS * 4, 'stages');
    views.u32.set(wordsOf(STAGE, STAGE_WORDS, stage), stages / 4);
    const threadRegisters = code.writeRegisters(views, arena, { count: plan.threads, leases: 1, what: traceName });
    const contexts = arena.alloc(CONTEXT_BYTES * plan.threads, 'step contexts');
    writeContexts(target, contexts, {
      stages: { begin: stages, end: stages + STAGE_WORDS * 4 },
      sliceRegisters: NO_FILES,
      threadRegisters,
      bindings: 0,
      captures: 0,
      placement: 0,
    });
    this.command = { contexts, contextStride: CONTEXT_BYTES, batch: 0 };
  }

  get isEmpty(): boolean {
    return this.#added === 0;
  }

  clear(): void {
    this.#pieces.clear();
    this.#rows.clear();
    this.#added = 0;
  }

  /** Nothing that is added may overlap what another copy of the list writes. */
  add(from: number, to: number, bytes: number): void {
    if (bytes === 0) return;
    const threads = this.#threads;
    if (bytes <= CUT_BYTES || threads === 1) this.#addPiece(this.#added % threads, from, to, bytes);
    else {
      // Parts are whole lines of cache.
      const share = Math.ceil(bytes / threads / 64) * 64;
      for (let thread = 0; thread < threads; thread++) {
        const begin = thread * share;
        if (begin < bytes) this.#addPiece(thread, from + begin, to + begin, Math.min(share, bytes - begin));
      }
    }
    this.#added++;
  }

  /** As `add`, of rows that lie apart. */
  addRows(from: number, to: number, { rows, bytes, fromBytes, toBytes }: RowsCopy): void {
    if (bytes === fromBytes && bytes === toBytes) {
      this.add(from, to, rows * bytes);
      return;
    }
    if (rows * bytes === 0) return;
    const threads = rows * bytes <= CUT_BYTES ? 1 : this.#threads;
    for (let part = 0; part < threads; part++) {
      const [first, end] = [part, part + 1].map((p) => Math.floor((rows * p) / threads)) as [number, number];
      const thread = threads === 1 ? this.#added % this.#threads : part;
      const descriptor = {
        from: from + first * fromBytes,
        to: to + first * toBytes,
        rows: end - first,
        bytes,
        fromBytes,
        toBytes,
      };
      const at = this.#rows.add(thread);
      for (const [name, word] of Object.entries(COPY_ROWS)) {
        this.#u32[at + word] = descriptor[name as keyof typeof COPY_ROWS];
      }
    }
    this.#added++;
  }

  /** Makes the copies on this thread: of a session whose threads are those of a device. */
  runHere(kernels: Pick<WasmKernels, 'copyPieces' | 'copyMatrices'>): void {
    this.#pieces.each((descriptors, count) => kernels.copyPieces(descriptors, count));
    this.#rows.each((descriptors, count) => kernels.copyMatrices(descriptors, count));
  }

  #addPiece(thread: number, from: number, to: number, bytes: number): void {
    const at = this.#pieces.add(thread);
    const u32 = this.#u32;
    u32[at + COPY.from] = from;
    u32[at + COPY.to] = to;
    u32[at + COPY.bytes] = bytes;
  }
}
