// Table rows as records of EntryDump messages: framing, checksums and messages in one go over each row.
// src/memory/dump-layout.ts draws the plan that describes the message of a table.
export { crc32cBytes, crc32cShift, crc32cTables } from "./dump/crc";
export { decodeEntries } from "./dump/decode";
export { encodeEntries } from "./dump/encode";
export { loadRows, reserveRows } from "./dump/load";
