// Embedding hash table in shared memory: any 64-bit id, rows that never move, an index per partition that grows alone.
//
// A table is 2^p partitions chosen by the top bits of the id's hash. During an update a partition belongs to one thread,
// so nothing but the heap takes a lock then. Lookups run while nobody writes. The kernels of table/shared.ts are for any
// other time and lock the partition of each id. src/memory/table-layout.ts names the same words for the other side.
//
// Table, u32 words:     | 0 log2 partitions | 1 dim | 2 state floats | 3 row bytes | 4 segments | 5 heap | 6 seed |
//                       | 7 zero row | 8 partitions (address) | 9 flags: 1 serving, 2 plain | 10 body bytes |
//                       | 11 bad gradients: 0 fail, 1 skip | 12 bad gradient rows | 13 overflow | 14 max update time i64 |
//                       | 16.. segments, 32 words each |
// Segment, u32 words:   | 0 dim | 1 weight offset | 2 state offset (floats) | 3 initializer | 4 a f32 | 5 b f32 |
//                       | 6 optimizer | 7 flags: 1 round to half | 8 retriever: 0 raw, 1 fixed_r8, 2 one_bit |
//                       | 9 r or amplitude f32 | 10 scale f32 | 11 first scale f32 | 12 largest scale f32 | 13 step size |
//                       | 14 compressor: 0 fp32, 1 fp16, 2 fixed_r8, 3 one_bit | 15 byte offset in a serving row |
//                       | 16..27 parameter block (optim/step.ts draws it) | 28, 29 generator of rounding | 30, 31 - |
// Partition, 64 bytes:  | 0 index | 1 bucket mask, 2^31 when salted | 2 rows | 3 next row | 4 end of block | 5 first block |
//                       | 6 last block | 7 rows of last block | 8 first free row | 9 slots taken, by rows and by the removed |
//                       | 10 lock | 11 ids passed over | 12..15 four floats of the lock's holder |
// Index bucket, 64 bytes: four i64 ids, four u32 row words, four u32 times of the last update (s).
// Row word:             0 free slot, 1 removed, else the row's address, plus 2 while an update sums its gradients: the
//                       time then is the address of the sum.
// Row block:            64-byte header | 0 next block | 1 bytes | then rows |. Row: | weights | state |, or the compressed
//                       segments of a serving row; 16-byte aligned.
// A slot is named by the address of its row word less 32, so that constants reach its other words:
//                       id at 2 * slot - bucket, row at slot + 32, time at slot + 48.
export * from "./table/admit";
export { tableApply } from "./table/apply";
export * from "./table/banks";
export { tableClear, tableEvict } from "./table/evict";
export { tableFind } from "./table/find";
export * from "./table/lookup";
export * from "./table/retrieve";
export { tableInitRow, tableUpsert } from "./table/rows";
export * from "./table/scan";
export * from "./table/shared";
export { tableUpdate } from "./table/update";
