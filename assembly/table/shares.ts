// Where the partitions of a table get their memory from.
import { OVERFLOW, SHARE_BYTES, TABLE } from "../generated/layouts";

/**
 * The heap of a partition: that of the table, or the partition's share of it in a table that goes on when it is full.
 */
export function heapOf(table: usize, partition: usize): usize {
  const block = <usize>load<u32>(table, TABLE.overflow);
  const shares: usize = block == 0 ? 0 : <usize>load<u32>(block, OVERFLOW.shares);
  if (shares == 0) return <usize>load<u32>(table, TABLE.heap);
  return shares + ((partition - <usize>load<u32>(table, TABLE.partitions)) >> 6) * SHARE_BYTES;
}
