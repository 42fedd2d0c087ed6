// Heapsort of slots by 64-bit places: in place, and n log n for any ids.

@inline
function placeAt(places: usize, i: u32): u64 {
  return load<u64>(places + (<usize>i << 3));
}

/** Moves (slot, place) down from `at` in a heap of `count`, largest place first. */
function siftDown(slots: usize, places: usize, at: u32, count: u32, slot: u32, place: u64): void {
  let i: u32 = at;
  for (let child: u32 = 2 * i + 1; child < count; child = 2 * i + 1) {
    if (child + 1 < count && placeAt(places, child) < placeAt(places, child + 1)) child++;
    if (placeAt(places, child) <= place) break;
    store<u64>(places + (<usize>i << 3), placeAt(places, child));
    store<u32>(slots + (<usize>i << 2), load<u32>(slots + (<usize>child << 2)));
    i = child;
  }
  store<u64>(places + (<usize>i << 3), place);
  store<u32>(slots + (<usize>i << 2), slot);
}

/** Sorts slots[0..count) and their places, least place first. */
export function sortSlots(slots: usize, places: usize, count: u32): void {
  for (let i: u32 = count >> 1; i-- > 0;) {
    siftDown(slots, places, i, count, load<u32>(slots + (<usize>i << 2)), placeAt(places, i));
  }
  for (let last: u32 = count; last-- > 1;) {
    const slot = load<u32>(slots + (<usize>last << 2));
    const place = placeAt(places, last);
    store<u32>(slots + (<usize>last << 2), load<u32>(slots));
    store<u64>(places + (<usize>last << 3), placeAt(places, 0));
    siftDown(slots, places, 0, last, slot, place);
  }
}
