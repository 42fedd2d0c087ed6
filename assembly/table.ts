// Embedding hash table in shared memory: any 64-bit id, rows that never move, an index per partition that grows alone.
//
// A table is 2^p partitions chosen by the top bits of the id's hash. During an update a partition belongs to one
// thread, so nothing but the heap takes a lock then. Lookups run while nobody writes. The kernels of table/shared.ts
// are for any other time and lock the partition of each id. src/memory/table-layout.ts names the same words for the
// other side.
//
// TABLE, SEGMENT, PARTITION and SLOT there are its words. An index is buckets of 64 bytes: four i64 ids, four row
// words, four times of the last update in seconds. A row word is 0 in a free slot, 1 where the row was removed, else
// the row's address, plus 2 while an update sums its gradients: the time then is the address of the sum. Rows lie in
// blocks behind a header of 64 bytes. A row is | weights | state |, or the compressed segments of a serving row;
// 16-byte aligned.
export * from "./table/admit";
export { tableApply } from "./table/apply";
export * from "./table/banks";
export { tableClear, tableEvict } from "./table/evict";
export { tableFind } from "./table/find";
export * from "./table/lookup";
export * from "./table/retrieve";
export * from "./table/route";
export { tableInitRow, tableUpsert } from "./table/rows";
export * from "./table/scan";
export * from "./table/shared";
export { tableUpdate } from "./table/update";
