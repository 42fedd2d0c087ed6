/**
 * @file How the memory of a table grows with its rows: the allocations of the kernels, played through without a table.
 *
 * Mirrors assembly/heap.ts (powers of two, retired blocks used again, whole or in halves), assembly/table/index.ts (an
 * index doubles at the limit of its partition) and assembly/table/rows.ts (blocks of rows that double up to
 * ROWS_BLOCK_MAX). Blocks of one size are alike, so counts of them are enough and no address is kept.
 */
import {
  BLOCK_HEADER_BYTES,
  BUCKET_BYTES,
  ROWS_BLOCK_MAX,
  ROWS_BLOCK_MIN,
  slotLimit,
} from '../../memory/table-layout.js';

const SIZE_CLASSES = 32;
const BLOCK_LOG2_MIN = 6;

/** Bytes that `heapAlloc` takes for a request. */
export function heapBlockBytes(bytes: number): number {
  return 2 ** sizeClass(bytes);
}

function sizeClass(bytes: number): number {
  return bytes <= 64 ? BLOCK_LOG2_MIN : 32 - Math.clz32(bytes - 1);
}

/** Rounded up to 16, as rows are laid out. */
export function rowBytesOf(floats: number): number {
  return Math.ceil((floats * 4) / 16) * 16;
}

export class HeapModel {
  /** Bytes ever taken from the end of the heap: it does not shrink. */
  topBytes = 0;
  readonly #retired = new Float64Array(SIZE_CLASSES);

  /** Bytes of blocks that were given back and wait to be used again. */
  get retiredBytes(): number {
    return this.#retired.reduce((sum, count, log2) => sum + count * 2 ** log2, 0);
  }

  alloc(bytes: number): void {
    const log2 = sizeClass(bytes);
    let larger = log2;
    while (larger < SIZE_CLASSES && this.#retired[larger] === 0) larger++;
    if (larger === SIZE_CLASSES) {
      this.topBytes += 2 ** log2;
      return;
    }
    this.#retired[larger]!--;
    for (let rest = log2; rest < larger; rest++) this.#retired[rest]!++;
  }

  free(bytes: number): void {
    this.#retired[sizeClass(bytes)]!++;
  }
}

/** One partition: what adding a row asks of the heap. */
export class PartitionModel {
  rows = 0;
  indexBytes = 0;
  /** Bytes of the index before the last growth: during it both are there. */
  oldIndexBytes = 0;
  blockBytes = 0;
  readonly #number: number;
  readonly #rowBytes: number;
  #slotRows = 0;
  #blockRows = 0;
  #room = 0;

  /** `number` of the table's partitions, `rowBytes` of a row. */
  constructor(number: number, rowBytes: number) {
    this.#number = number;
    this.#rowBytes = rowBytes;
  }

  /** Rows this partition can have before it asks the heap again. */
  get capacity(): number {
    return Math.min(this.#slotRows, this.#room);
  }

  /** Makes it `rows` rows large, one more than it has room for at the most. */
  growTo(rows: number, heap: HeapModel): void {
    this.rows = rows;
    if (rows > this.#slotRows) {
      this.oldIndexBytes = this.indexBytes;
      this.indexBytes = Math.max(BUCKET_BYTES, this.indexBytes * 2);
      this.#slotRows = slotLimit(this.#number, this.indexBytes / BUCKET_BYTES);
      heap.alloc(this.indexBytes);
      if (this.oldIndexBytes > 0) heap.free(this.oldIndexBytes);
    }
    if (rows > this.#room) {
      this.#blockRows = Math.min(Math.max(ROWS_BLOCK_MIN, this.#blockRows * 2), ROWS_BLOCK_MAX);
      const bytes = heapBlockBytes(BLOCK_HEADER_BYTES + this.#blockRows * this.#rowBytes);
      this.#room += Math.floor((bytes - BLOCK_HEADER_BYTES) / this.#rowBytes);
      this.blockBytes += bytes;
      heap.alloc(bytes);
    }
  }
}

/**
 * Fills the partitions of these numbers to `rowCounts` side by side, as ids in random order do: each is as far along as
 * all others, measured by its own end.
 */
export function growTogether(
  rowCounts: readonly number[],
  numbers: readonly number[],
  rowBytes: number,
  heap: HeapModel,
): PartitionModel[] {
  const partitions = numbers.map((number) => new PartitionModel(number, rowBytes));
  const nextAt = Float64Array.from(rowCounts, (count) => (count > 0 ? 1 / count : Number.POSITIVE_INFINITY));
  for (;;) {
    let first = 0;
    for (let p = 1; p < nextAt.length; p++) if (nextAt[p]! < nextAt[first]!) first = p;
    if (!(nextAt[first]! <= 1)) break;
    const partition = partitions[first]!;
    partition.growTo(partition.capacity + 1, heap);
    nextAt[first] = (partition.capacity + 1) / rowCounts[first]!;
  }
  partitions.forEach((partition, p) => {
    partition.rows = rowCounts[p]!;
  });
  return partitions;
}
