// Whole numbers of protobuf, seven bits to a byte, put together eight bytes at a time.
/** The number that was read last. */
export let varintIs: i64 = 0;

const STOPS: u64 = 0x8080808080808080;

/** Puts the seven bits of eight bytes together. */
@inline
function gather(bytes: u64): u64 {
  bytes = bytes & 0x007f007f007f007f | (bytes & 0x7f007f007f007f00) >> 1;
  bytes = bytes & 0x00003fff00003fff | (bytes & 0x3fff00003fff0000) >> 2;
  return bytes & 0x000000000fffffff | (bytes & 0x0fffffff00000000) >> 4;
}

/** Reads an int64; where it ends, 0 where it is cut or too long. Some bytes behind it are read. */
@inline
export function readVarint(at: usize, end: usize): usize {
  const bytes = load<u64>(at);
  const stops = ~bytes & STOPS;
  if (stops == 0) return readLongVarint(at, end);
  // All bits up to the one that says that its byte is the last.
  varintIs = <i64>gather(bytes & (stops ^ stops - 1));
  const stop = at + <usize>(ctz<u64>(stops) >> 3) + 1;
  return stop <= end ? stop : 0;
}

/** One of nine or ten bytes. */
function readLongVarint(at: usize, end: usize): usize {
  const ninth = <u64>load<u8>(at + 8);
  let value = gather(load<u64>(at)) | (ninth & 0x7f) << 56;
  let stop = at + 9;
  if (ninth >= 0x80) {
    const tenth = <u64>load<u8>(stop++);
    if (tenth >= 0x80) return 0;
    value |= tenth << 63;
  }
  varintIs = <i64>value;
  return stop <= end ? stop : 0;
}
