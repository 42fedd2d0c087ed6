// Texts of a page, each behind its length in four bytes, as the value of a field. What is no UTF-8, or begins with a
// mark of its order of bytes, is left to those who decode texts.
import { readCell, readId, readPlainCell, takenId } from "./cell";
import { isText } from "./text";

/** Writes the address of each of `count` texts; the address behind them, 0 where they are more than there is. */
export function findTexts(from: usize, end: usize, to: usize, count: u32): usize {
  for (let i: u32 = 0; i < count; i++) {
    if (end - from < 4) return 0;
    const length = <usize>load<u32>(from);
    if (length > end - from - 4) return 0;
    store<u32>(to + (<usize>i << 2), <u32>from);
    from += 4 + length;
  }
  return from;
}

/** Whether the text is what a decoder of UTF-8 takes as it is: one that begins with a mark of order loses it. */
@inline
function isPlain(at: usize, end: usize): bool {
  if (end - at >= 3 && (load<u32>(at) & 0xffffff) == 0xbfbbef) return false;
  return isText(at, end);
}

/**
 * Texts at the addresses `texts` as values of the rows from `row` up to `end`. A row whose mask is 0 has none: its cell
 * is empty; without a mask, 0, all have one. The row that is left to the caller, or `end`.
 */
export function readTexts(plan: usize, field: usize, mask: usize, texts: usize, row: u32, end: u32): u32 {
  for (; row < end; row++) {
    if (mask != 0 && load<u32>(mask + (<usize>row << 2)) == 0) {
      if (!readCell(plan, field, row, plan, plan)) return row;
      continue;
    }
    const text = <usize>load<u32>(texts);
    const length = <usize>load<u32>(text);
    const at = text + 4;
    if (!isPlain(at, at + length) || !readPlainCell(plan, field, row, at, at + length)) return row;
    texts += 4;
  }
  return end;
}

/** Texts that are ids, none of them empty: how many were written before one that is left. */
export function readTextIds(plan: usize, field: usize, texts: usize, to: usize, count: u32): u32 {
  for (let i: u32 = 0; i < count; i++) {
    const text = <usize>load<u32>(texts + (<usize>i << 2));
    const length = <usize>load<u32>(text);
    const at = text + 4;
    if (length == 0 || !isPlain(at, at + length) || !readId(plan, field, at, at + length)) return i;
    store<i64>(to + (<usize>i << 3), takenId());
  }
  return count;
}
