// Row splits and row ids of ragged tensors.

/** out[j - splits[0]] = r for every j of splits[r]..splits[r + 1]. Mirrors fused_value_rowids. */
export function rowIdsFromSplits(splits: usize, rows: i32, out: usize): void {
  let begin = load<i32>(splits);
  for (let r: i32 = 0; r < rows; r++) {
    splits += 4;
    const end = load<i32>(splits);
    const stop = out + (<usize>(end - begin) << 2);
    const four = i32x4.splat(r);
    for (; out + 16 <= stop; out += 16) v128.store(out, four);
    for (; out < stop; out += 4) store<i32>(out, r);
    begin = end;
  }
}

/** The same with i64 splits and i64 row ids. */
export function rowIdsFromSplitsI64(splits: usize, rows: i32, out: usize): void {
  let begin = load<i64>(splits);
  for (let r: i32 = 0; r < rows; r++) {
    splits += 8;
    const end = load<i64>(splits);
    const stop = out + (<usize>(end - begin) << 3);
    const two = i64x2.splat(r);
    for (; out + 16 <= stop; out += 16) v128.store(out, two);
    for (; out < stop; out += 8) store<i64>(out, r);
    begin = end;
  }
}
