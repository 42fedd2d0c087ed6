// Kernels of the distribution ops: sharding ids, ordering unique ids, gathering and reducing rows, layouts. Pointers
// are byte addresses; ids are 8-byte aligned, everything else 4-byte.
export * from "./ops/gather";
export * from "./ops/layout";
export * from "./ops/reorder";
export * from "./ops/sharding";
