/**
 * @file What the partitions of a table take of their shares, as text for the manifest of a checkpoint.
 *
 * `5:7.8.9x2` is an index of 2^5 buckets and blocks of rows of 2^7, 2^8 and twice 2^9 bytes, in the order they came;
 * `5s:7` has its buckets by the secret of the memory; `-` is a partition without any. Blocks that lie unused in a share
 * are written alike, without an index. Partitions are parted by spaces.
 */
import { BUCKET_BYTES, HEAP_BLOCK_MAX, PARTITIONS } from '../../memory/table-layout.js';

/** Blocks of one size that follow each other. */
export interface BlockRun {
  readonly bytes: number;
  readonly count: number;
}

export interface PartitionSpace {
  /** Of its index; 0 when there is none yet. */
  readonly buckets: number;
  readonly isSalted: boolean;
  readonly blocks: readonly BlockRun[];
}

/** What tables that share a memory take of it, and what lies unused in between. */
export interface SpaceRecord {
  /** By table, in the order of the checkpoint. */
  readonly tables: readonly string[];
  readonly unused: string;
}

const BLOCKS_MAX = 2 ** 26;
const BYTES_MAX = 2 ** 32;

export function formatSpace(partitions: readonly PartitionSpace[]): string {
  return partitions.map(partitionText).join(' ');
}

function partitionText({ buckets, isSalted, blocks }: PartitionSpace): string {
  const runs = blocks.map(({ bytes, count }) => `${Math.log2(bytes)}${count === 1 ? '' : `x${count}`}`).join('.');
  if (buckets === 0) return runs === '' ? '-' : runs;
  return `${Math.log2(buckets)}${isSalted ? 's' : ''}:${runs}`;
}

/** The blocks of these sizes as runs. */
export function runsOf(sizes: Iterable<number>): BlockRun[] {
  const runs: { bytes: number; count: number }[] = [];
  for (const bytes of sizes) {
    const last = runs.at(-1);
    if (last?.bytes === bytes) last.count++;
    else runs.push({ bytes, count: 1 });
  }
  return runs;
}

/** Undefined when the text is none that `formatSpace` writes, or tells of more than a memory can have. */
export function parseSpace(text: string): PartitionSpace[] | undefined {
  const partitions = text.split(' ').map(parsePartition);
  if (partitions.length !== PARTITIONS || partitions.includes(undefined)) return undefined;
  const parsed = partitions as PartitionSpace[];
  return formatSpace(parsed) === text ? parsed : undefined;
}

function parsePartition(text: string): PartitionSpace | undefined {
  const match = /^(?:-|(?:(\d\d?)(s?):)?((?:\d\d?(?:x\d{1,8})?\.)*\d\d?(?:x\d{1,8})?)?)$/.exec(text);
  if (match === null || text === '') return undefined;
  const [, log2, salt, runs] = match;
  const blocks = (runs?.split('.') ?? []).map((run): BlockRun => {
    const [size, count = '1'] = run.split('x');
    return { bytes: 2 ** Number(size), count: Number(count) };
  });
  const space = { buckets: log2 === undefined ? 0 : 2 ** Number(log2), isSalted: salt === 's', blocks };
  const isBlock = ({ bytes, count }: BlockRun) =>
    bytes >= 64 && bytes <= HEAP_BLOCK_MAX && count >= 1 && count <= BLOCKS_MAX;
  return blocks.every(isBlock) && spaceBytes(space) <= BYTES_MAX ? space : undefined;
}

/** Bytes of the index and of all blocks. */
export function spaceBytes({ buckets, blocks }: PartitionSpace): number {
  return blocks.reduce((sum, { bytes, count }) => sum + bytes * count, buckets * BUCKET_BYTES);
}
