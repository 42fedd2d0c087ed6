// Where the partitions of a table get their memory from.

const OVERFLOW: usize = 52;
/** Bytes from share to share. */
const SHARE_BYTES: usize = 192;

/** The heap of a partition: that of the table, or the partition's share of it in a table that goes on when it is full. */
export function heapOf(table: usize, partition: usize): usize {
  const block = <usize>load<u32>(table, OVERFLOW);
  const shares: usize = block == 0 ? 0 : <usize>load<u32>(block, 8);
  if (shares == 0) return <usize>load<u32>(table, 20);
  return shares + ((partition - <usize>load<u32>(table, 32)) >> 6) * SHARE_BYTES;
}
