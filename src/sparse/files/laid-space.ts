/**
 * @file Gives empty tables what they took of a memory when they were saved, before their rows come.
 *
 * Nothing doubles on the way then, so that a restore needs no more than training had. And the tables go on as those
 * that were saved would: what they have room for, and what they may still take, is the same.
 */
import {
  BLOCK,
  BLOCK_HEADER_BYTES,
  BUCKET_BYTES,
  HEAP,
  PARTITION,
  PARTITION_BYTES,
  PARTITIONS,
  ROWS_BLOCK_MAX,
  ROWS_BLOCK_MIN,
  SALTED,
} from '../../memory/table-layout.js';
import { heapBlockBytes } from '../config/table-growth.js';
import { shareAt } from '../table/partition-shares.js';
import { heapBlock } from '../table/table-control.js';
import { shareAlone } from './saved-space.js';
import type { TableImage } from './stored-table.js';
import { type PartitionSpace, parseSpace, type SpaceRecord, spaceBytes } from './table-space.js';

interface Block {
  readonly at: number;
  readonly bytes: number;
}

/** What a partition of a table is to have, taken from its share. */
interface LaidPartition {
  readonly partition: number;
  readonly index: Block | undefined;
  readonly isSalted: boolean;
  readonly blocks: readonly Block[];
}

/** Gives the partitions of a table, which are empty, what they are to have. */
export type LayOut = (image: TableImage) => void;

export class LaidSpace {
  /** All tables have the same shares; those of the first stand for them. */
  readonly #image: TableImage;
  readonly #limits: readonly number[];
  /** Blocks that no table has yet, by partition. */
  readonly #waiting: Set<Block>[] = Array.from({ length: PARTITIONS }, () => new Set());
  readonly #tables: LaidPartition[][] = [];

  /**
   * Takes what `record` tells of, or nothing: undefined when there is no record, the tables or others have taken
   * something already, or the shares are smaller than they were. ML_MEMORY when what the shares promise is not there.
   */
  static take(images: readonly TableImage[], record: SpaceRecord | undefined): LaidSpace | undefined {
    if (record === undefined || record.tables.length !== images.length || !shareAlone(images)) return undefined;
    const spaces = [...record.tables, record.unused].flatMap((text) => {
      const space = parseSpace(text);
      return space === undefined ? [] : [space];
    });
    if (spaces.length !== images.length + 1 || !hasRoom(images[0]!, spaces)) return undefined;
    return new LaidSpace(images[0]!, spaces.slice(0, -1), spaces.at(-1)!);
  }

  private constructor(image: TableImage, tables: readonly PartitionSpace[][], unused: readonly PartitionSpace[]) {
    this.#image = image;
    this.#limits = eachShare(image, (u32, share) => u32[share + HEAP.end]!);
    try {
      for (const table of tables) this.#tables.push(table.map((space, p) => this.#partition(p, space)));
      unused.forEach((space, p) => {
        this.#partition(p, space);
      });
      // Nothing more until all rows are there: an index that could not grow before would grow now.
      eachShare(image, (u32, share) => {
        u32[share + HEAP.end] = u32[share + HEAP.top]!;
      });
    } catch (cause) {
      this.close();
      throw cause;
    }
  }

  /** For the table that was at `index` when the space was taken; once. */
  layOut(index: number): LayOut {
    return (image) => {
      for (const laid of this.#tables[index]!.splice(0)) {
        writePartition(image, laid);
        for (const block of [laid.index, ...laid.blocks]) if (block) this.#waiting[laid.partition]!.delete(block);
      }
    };
  }

  /** When all rows are there, or none will come: what no table has lies unused in the shares, which may grow again. */
  close(): void {
    this.#waiting.forEach((blocks, p) => {
      const { kernels } = this.#image.banks[this.#image.bankOf(p)]!;
      for (const { at, bytes } of blocks) kernels.heapFree(shareAddress(this.#image, p), at, bytes);
      blocks.clear();
    });
    eachShare(this.#image, (u32, share, p) => {
      u32[share + HEAP.end] = this.#limits[p]!;
    });
  }

  #partition(partition: number, { buckets, isSalted, blocks }: PartitionSpace): LaidPartition {
    const index = buckets === 0 ? undefined : this.#block(partition, buckets * BUCKET_BYTES);
    const taken = blocks.flatMap(({ bytes, count }) => {
      return Array.from({ length: count }, () => this.#block(partition, bytes));
    });
    return { partition, index, isSalted, blocks: taken };
  }

  #block(p: number, bytes: number): Block {
    const bank = this.#image.banks[this.#image.bankOf(p)]!;
    const at = heapBlock({ ...bank, heap: shareAddress(this.#image, p) }, bytes, `partition ${p} of tables`);
    const block = { at, bytes };
    this.#waiting[p]!.add(block);
    return block;
  }
}

function shareAddress(image: TableImage, p: number): number {
  return shareAt(image.banks[image.bankOf(p)]!, p) * 4;
}

function eachShare<T>(image: TableImage, visit: (u32: Uint32Array, share: number, p: number) => T): T[] {
  return Array.from({ length: PARTITIONS }, (_, p) => {
    const bank = image.banks[image.bankOf(p)]!;
    return visit(bank.views.u32, shareAt(bank, p), p);
  });
}

/** Whether the shares are untouched and as large as what they are to hold. */
function hasRoom(image: TableImage, spaces: readonly PartitionSpace[][]): boolean {
  const fits = eachShare(image, (u32, share, p) => {
    const bytes = spaces.reduce((sum, space) => sum + spaceBytes(space[p]!), 0);
    return u32[share + HEAP.top] === 0 && bytes <= u32[share + HEAP.end]!;
  });
  return fits.every(Boolean);
}

/** An empty index, and all rows of the blocks as rows that were given back, in their order. */
function writePartition(image: TableImage, { partition, index, isSalted, blocks }: LaidPartition): void {
  const bank = image.bankOf(partition);
  const { u32 } = image.banks[bank]!.views;
  const at = (image.partitionsOf(bank) + partition * PARTITION_BYTES) / 4;
  if (index !== undefined) {
    u32[at + PARTITION.index] = index.at;
    u32[at + PARTITION.mask] = index.bytes / BUCKET_BYTES - 1 + (isSalted ? SALTED : 0);
  }
  let [previous, previousRow, end] = [at + PARTITION.firstBlock, at + PARTITION.freeRow, 0];
  for (const block of blocks) {
    u32[previous] = block.at;
    previous = block.at / 4 + BLOCK.next;
    u32[block.at / 4 + BLOCK.bytes] = block.bytes;
    const first = block.at + BLOCK_HEADER_BYTES;
    end = first + Math.floor((block.bytes - BLOCK_HEADER_BYTES) / image.rowBytes) * image.rowBytes;
    for (let row = first; row < end; row += image.rowBytes) {
      u32[previousRow] = row;
      previousRow = row / 4;
    }
  }
  const last = blocks.at(-1);
  if (last === undefined) return;
  u32[at + PARTITION.lastBlock] = last.at;
  u32[at + PARTITION.blockRows] = rowsAskedFor(last.bytes, image.rowBytes);
  u32[at + PARTITION.nextRow] = end;
  u32[at + PARTITION.blockEnd] = end;
}

/** Rows that a block of this size was taken for; no two numbers of rows take the same size. */
function rowsAskedFor(bytes: number, rowBytes: number): number {
  let rows = ROWS_BLOCK_MIN;
  while (rows < ROWS_BLOCK_MAX && heapBlockBytes(BLOCK_HEADER_BYTES + rows * 2 * rowBytes) <= bytes) rows *= 2;
  return rows;
}
