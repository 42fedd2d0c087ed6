// CRC-32C of bytes, sixteen at a time, and the mask that records carry it with. Twin: src/base/crc32c.ts.
const TABLE_BYTES: usize = 1024;

@inline
function ofByte(table: usize, index: usize, byte: u32): u32 {
  return load<u32>(table + index * TABLE_BYTES + (<usize>(byte & 0xff) << 2));
}

@inline
function ofWord(table: usize, index: usize, word: u32): u32 {
  return ofByte(table, index + 3, word) ^ ofByte(table, index + 2, word >> 8) ^ ofByte(table, index + 1, word >> 16) ^
    ofByte(table, index, word >> 24);
}

/** The masked checksum of `length` bytes; `table` has 16 tables of 256 words, that of one byte first. */
export function maskedChecksum(table: usize, at: usize, length: usize): u32 {
  const end = at + length;
  let crc: u32 = 0xffffffff;
  for (; at + 16 <= end; at += 16) {
    crc = ofWord(table, 12, crc ^ load<u32>(at)) ^ ofWord(table, 8, load<u32>(at + 4)) ^
      ofWord(table, 4, load<u32>(at + 8)) ^ ofWord(table, 0, load<u32>(at + 12));
  }
  for (; at < end; at++) crc = ofByte(table, 0, crc ^ <u32>load<u8>(at)) ^ crc >> 8;
  crc = ~crc;
  return rotl<u32>(crc, 17) + 0xa282ead8;
}
