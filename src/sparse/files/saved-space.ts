/**
 * @file What tables that share a memory take of it, read from the tables for a checkpoint.
 *
 * Only of tables that stop admitting and that nothing was removed from: what they take is then a matter of their ids
 * and the order these came in, so that equal runs have equal records. Places of removed ids are in no file, and a run
 * that goes on without them takes other blocks.
 */
import { BLOCK, HEAP, PARTITION, PARTITION_BYTES, PARTITIONS, SALTED } from '../../memory/table-layout.js';
import { shareAt } from '../table/partition-shares.js';
import { hasRemovals } from '../table/table-control.js';
import { whenFullOf } from '../table/table-full.js';
import type { TableImage } from './stored-table.js';
import { type BlockRun, formatSpace, type PartitionSpace, runsOf, type SpaceRecord } from './table-space.js';

/** Undefined when the tables are not all that share their memory, or one is of the kind that cannot be told of. */
export function spaceOf(images: readonly TableImage[]): SpaceRecord | undefined {
  if (!shareAlone(images) || !images.every(isTold)) return undefined;
  const partitions = Array.from({ length: PARTITIONS }, (_, p) => p);
  const unused = partitions.map((p) => ({ buckets: 0, isSalted: false, blocks: unusedBlocks(images[0]!, p) }));
  return {
    tables: images.map((image) => formatSpace(partitions.map((p) => partitionSpace(image, p)))),
    unused: formatSpace(unused),
  };
}

/** Whether the shares of a memory are those of these tables and of no other. */
export function shareAlone(images: readonly TableImage[]): boolean {
  const [first] = images;
  if (first === undefined) return false;
  const inOneMemory = images.every((image) => image.hasShares && image.table.memory === first.table.memory);
  return inOneMemory && first.banks.every(({ views, heap }) => views.u32[heap / 4 + HEAP.sharers] === images.length);
}

function isTold({ banks, table }: TableImage): boolean {
  return banks.every((bank, index) => {
    const words = { bank, address: table.addresses[index]! };
    return whenFullOf(words) === 'stop-admitting' && !hasRemovals(words);
  });
}

function partitionSpace(image: TableImage, p: number): PartitionSpace {
  const bank = image.bankOf(p);
  const { u32 } = image.banks[bank]!.views;
  const at = (image.partitionsOf(bank) + p * PARTITION_BYTES) / 4;
  const isSalted = (u32[at + PARTITION.mask]! & SALTED) !== 0;
  return { buckets: image.bucketsOf(p), isSalted, blocks: runsOf(blockSizes(u32, u32[at + PARTITION.firstBlock]!)) };
}

function* blockSizes(u32: Uint32Array, first: number): Generator<number> {
  for (let block = first; block !== 0; block = u32[block / 4 + BLOCK.next]!) yield u32[block / 4 + BLOCK.bytes]!;
}

/** Blocks of the share of partition `p` that were given back to it, smallest first. */
function unusedBlocks(image: TableImage, p: number): BlockRun[] {
  const bank = image.banks[image.bankOf(p)]!;
  const { u32 } = bank.views;
  const runs: BlockRun[] = [];
  for (let log2 = 0; log2 < 32; log2++) {
    let count = 0;
    for (let block = u32[shareAt(bank, p) + HEAP.retired + log2]!; block !== 0; block = u32[block / 4]!) count++;
    if (count > 0) runs.push({ bytes: 2 ** log2, count });
  }
  return runs;
}
