// Lookup of many ids at once, whatever the table shows of its rows.
import { LOOKUP_CHUNK, TABLE, TABLE_FLAG } from "../generated/layouts";
import { gatherRowsF32 } from "../sparse";
import { findRows, touchLines } from "./find";
import { isServing, showRow } from "./retriever";

/**
 * out[i, :] = what a lookup of ids[i] shows, zeros for an absent one. `scratch` has room for two chunks of addresses.
 * Returns how many ids were found. Nobody may write to the table meanwhile.
 */
export function tableRetrieve(table: usize, ids: usize, n: u32, out: usize, outStride: u32, scratch: usize): u32 {
  const dim = load<u32>(table, TABLE.dim);
  const dimBytes = <usize>dim << 2;
  const zeroRow = load<u32>(table, TABLE.zeroRow);
  const plain = (load<u32>(table, TABLE.flags) & TABLE_FLAG.plain) != 0;
  const rowBytes = isServing(table) ? <usize>load<u32>(table, TABLE.bodyBytes) : dimBytes;
  const aligned = (load<u32>(table, TABLE.rowBytes) & 63) == 0;
  const strideBytes = <usize>outStride << 2;
  let found: u32 = 0;
  for (let s: u32 = 0; s < n; s += LOOKUP_CHUNK) {
    const m = min(LOOKUP_CHUNK, n - s);
    findRows(table, ids + (<usize>s << 3), m, scratch);
    touchLines(scratch, m, rowBytes, aligned);
    if (plain) gatherRowsF32(scratch, m, dim, out, outStride);
    for (let i: usize = 0; i < <usize>m << 2; i += 4) {
      const row = load<u32>(scratch + i);
      found += <u32>(row != zeroRow);
      if (!plain) {
        if (row != zeroRow) showRow(table, row, out);
        else memory.fill(out, 0, dimBytes);
        out += strideBytes;
      }
    }
    if (plain) out += <usize>m * strideBytes;
  }
  return found;
}
