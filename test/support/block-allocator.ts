/**
 * @file Bump allocator over blocks that grow: 1 KiB first, each new one twice the last, up to 1 MiB.
 *
 * Mirrors runtime/allocator/block_allocator. Requests are rounded up to 8 bytes; one that fits no regular block gets a
 * block of its own size. Blocks are given back all at once.
 */
import type { Arena } from '../../src/memory/arena.js';

const FIRST_BLOCK_BYTES = 1024;
const BLOCK_BYTES_MAX = 1 << 20;
const ALIGN = 8;

export class BlockAllocator {
  readonly #arena: Arena;
  readonly #mark: number;
  #top = 0;
  #end = 0;
  #nextBytes = FIRST_BLOCK_BYTES;
  #allocatedBytes = 0;

  constructor(arena: Arena) {
    this.#arena = arena;
    this.#mark = arena.mark();
  }

  /** Bytes of all blocks, used or not. */
  get allocatedBytes(): number {
    return this.#allocatedBytes;
  }

  allocate(bytes: number): number {
    const rounded = Math.ceil(bytes / ALIGN) * ALIGN;
    if (this.#top + rounded > this.#end) this.#addBlock(rounded);
    const at = this.#top;
    this.#top += rounded;
    return at;
  }

  /** Everything since construction; the arena must not have been used by others meanwhile. */
  deallocateAll(): void {
    this.#arena.release(this.#mark);
    this.#top = 0;
    this.#end = 0;
    this.#nextBytes = FIRST_BLOCK_BYTES;
    this.#allocatedBytes = 0;
  }

  #addBlock(needed: number): void {
    const bytes = Math.max(this.#nextBytes, needed);
    this.#top = this.#arena.alloc(bytes, 'block', ALIGN);
    this.#end = this.#top + bytes;
    this.#allocatedBytes += bytes;
    this.#nextBytes = Math.min(this.#nextBytes * 2, BLOCK_BYTES_MAX);
  }
}
