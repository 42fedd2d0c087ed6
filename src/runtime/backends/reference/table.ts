/**
 * @file Plain twin of assembly/heap.ts and assembly/table.ts: the same table in the same memory, without SIMD or
 * tricks.
 *
 * Layout constants come from memory/table-layout.ts. Partition ownership makes updates free of locks, as over there;
 * the heap and the shared kernels take their locks by spinning.
 */
export { heapAlloc, heapFree } from './heap.js';
export * from './route.js';
export { tableAdmit, tablePassOver, tableStepped } from './table-admit.js';
export { tableApply } from './table-apply.js';
export * from './table-banks.js';
export * from './table-evict.js';
export * from './table-lookup.js';
export { tableRetrieve } from './table-retriever.js';
export { tableFind, tableInitRow, tableUpsert } from './table-rows.js';
export * from './table-scan.js';
export * from './table-shared.js';
export * from './table-update.js';
