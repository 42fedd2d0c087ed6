// How the rows that are stepped together are listed, with their gradients. A list is an array of u32 words; the type
// argument says what a word is, and is gone when the loop is compiled.
import { ROW_SUMMING, SLOT } from "../generated/layouts";

/** A word is a slot whose row sums its gradients: the slot has both addresses. */
export type ListedSlot = u8;
/** A word is a position in the arrays of row addresses and of gradients. */
export type ListedPlace = u16;
/** A word is the address of a row; gradients are in the order of the list. */
export type ListedRow = u32;

@inline
export function rowAt<L>(at: usize, rows: usize): usize {
  const word = <usize>load<u32>(at);
  if (sizeof<L>() == sizeof<ListedSlot>()) return <usize>(load<u32>(word, SLOT.row) - ROW_SUMMING);
  if (sizeof<L>() == sizeof<ListedPlace>()) return <usize>load<u32>(rows + (word << 2));
  return word;
}

/** The id of a row; `ids` are in the order of positions, or of the list. */
@inline
export function idAt<L>(at: usize, list: usize, ids: usize): i64 {
  const word = <usize>load<u32>(at);
  if (sizeof<L>() == sizeof<ListedSlot>()) return load<i64>(word + (word & 63)); // slots are 4 bytes apart, their ids 8
  if (sizeof<L>() == sizeof<ListedPlace>()) return load<i64>(ids + (word << 3));
  return load<i64>(ids + ((at - list) << 1));
}

@inline
export function gradientAt<L>(at: usize, list: usize, gradients: usize, strideBytes: usize): usize {
  if (sizeof<L>() == sizeof<ListedSlot>()) return <usize>load<u32>(<usize>load<u32>(at), SLOT.time);
  if (sizeof<L>() == sizeof<ListedPlace>()) return gradients + <usize>load<u32>(at) * strideBytes;
  return gradients + ((at - list) >> 2) * strideBytes;
}
