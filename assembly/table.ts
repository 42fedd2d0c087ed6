// Embedding hash table in shared memory: any 64-bit id, rows that never move, an index per partition that grows alone.
//
// A table is 2^p partitions chosen by the top bits of the id's hash. During an update a partition belongs to one thread,
// so nothing here takes a lock but the heap. Lookups run while nobody writes. src/memory/table-layout.ts names the same
// words for the other side.
//
// Table, u32 words:     | 0 log2 partitions | 1 dim | 2 state floats | 3 row bytes | 4 segments | 5 heap | 6 seed |
//                       | 7 zero row | 8 partitions (address) | 9..15 - | 16.. segments, 16 words each |
// Segment, u32 words:   | 0 dim | 1 weight offset | 2 state offset (floats) | 3 initializer | 4 a f32 | 5 b f32 |
//                       | 6 optimizer | 7 learning rate f32 | 8.. parameters f32 |
// Partition, 64 bytes:  | 0 index | 1 bucket mask | 2 rows | 3 next row | 4 end of block | 5 first block | 6 last block |
//                       | 7 rows of last block | 8 first free row | 9 slots taken, by rows and by the removed |
// Index bucket, 64 bytes: four i64 ids, four u32 row words, four u32 times of the last update (s).
// Row word:             0 free slot, 1 removed, else the row's address, plus 2 while an update sums its gradients: the
//                       time then is the address of the sum.
// Row block:            64-byte header | 0 next block | 1 bytes | then rows |. Row: | weights | state |, 16-byte aligned.
// A slot is named by the address of its row word less 32, so that constants reach its other words:
//                       id at 2 * slot - bucket, row at slot + 32, time at slot + 48.
export * from "./table/apply";
export * from "./table/banks";
export * from "./table/evict";
export { tableFind } from "./table/find";
export * from "./table/lookup";
export * from "./table/rows";
export { tableUpdate } from "./table/update";
