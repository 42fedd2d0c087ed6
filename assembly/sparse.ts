// Kernels over ids and ragged rows. A split is i32[rows + 1] and may start above 0: positions are counted from
// splits[0]. A stride is the distance between rows in floats. Pointers are byte addresses; ids are 8-byte aligned,
// everything else 4-byte.
export * from "./sparse/copy";
export * from "./sparse/partition";
export * from "./sparse/pool";
export * from "./sparse/ragged";
export * from "./sparse/repeats";
export * from "./sparse/rows";
export * from "./sparse/scatter";
export * from "./sparse/sequence";
export * from "./sparse/slices";
export * from "./sparse/unique";
