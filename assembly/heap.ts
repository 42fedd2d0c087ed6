// Heap for memory that threads ask for while a step runs: index arrays and row blocks of growing tables.
// Requests are rare and large, so one lock serves all; retired blocks are kept per power of two and used again, whole
// or in parts.
//
// A share is a heap that has no memory of its own: it takes what it needs from a parent, up to a limit, and keeps what
// is given back to it. Its top is what it took, its end the limit. Whoever has a share to himself gets the same from it
// whatever others do meanwhile.
// HEAP of src/memory/table-layout.ts names the words of the header.
import { HEAP } from "./generated/layouts";
import { lock, unlock } from "./sync";

/**
 * A cleared block of at least `bytes` bytes, 64-byte aligned; 0 when the heap is full. Sizes are rounded to powers of
 * two.
 */
export function heapAlloc(heap: usize, bytes: u32): usize {
  if (bytes > 0x80000000) return 0;
  const sizeLog2: u32 = bytes <= 64 ? 6 : 32 - clz(bytes - 1);
  const size: u32 = (<u32>1) << sizeLog2;
  const list = heap + HEAP.retired + (<usize>sizeLog2 << 2);
  lock(heap);
  let block = <usize>load<u32>(list);
  if (block != 0) store<u32>(list, load<u32>(block));
  else block = splitRetired(heap, sizeLog2);
  if (block != 0) {
    unlock(heap);
    memory.fill(block, 0, size);
    return block;
  }
  const top = load<u32>(heap, HEAP.top);
  const end = load<u32>(heap, HEAP.end);
  const parent = <usize>load<u32>(heap, HEAP.parent);
  if (end - top < size) block = 0;
  // Memory beyond `top` was never written, so it is zero.
  else block = parent == 0 ? top : heapAlloc(parent, size);
  if (block != 0) store<u32>(heap, top + size, HEAP.top);
  unlock(heap);
  return block;
}

/**
 * A block of 2^sizeLog2 bytes from the smallest retired block that is larger, whose rest goes to the lists; 0 when
 * there is none. An index that has doubled will not need its old size again, but rows fit into it.
 */
function splitRetired(heap: usize, sizeLog2: u32): usize {
  for (let larger = sizeLog2 + 1; larger < 32; larger++) {
    const list = heap + HEAP.retired + (<usize>larger << 2);
    const block = <usize>load<u32>(list);
    if (block == 0) continue;
    store<u32>(list, load<u32>(block));
    for (let rest = larger - 1; rest >= sizeLog2; rest--) {
      const half = block + (<usize>1 << rest);
      const halves = heap + HEAP.retired + (<usize>rest << 2);
      store<u32>(half, load<u32>(halves));
      store<u32>(halves, <u32>half);
    }
    return block;
  }
  return 0;
}

/** Gives back a block that heapAlloc returned for the same number of bytes. */
export function heapFree(heap: usize, block: usize, bytes: u32): void {
  const sizeLog2: u32 = bytes <= 64 ? 6 : 32 - clz(bytes - 1);
  const list = heap + HEAP.retired + (<usize>sizeLog2 << 2);
  lock(heap);
  store<u32>(block, load<u32>(list));
  store<u32>(list, <u32>block);
  unlock(heap);
}
