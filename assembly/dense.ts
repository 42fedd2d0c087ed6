// Dense kernels: row-major f32 matrices. A stride is the distance between two rows in floats, so a column block of a
// wider matrix is an operand like any other. `acc` 0 overwrites the output, 1 adds to it. Counts may be 0. An output
// may be the very operand it is computed from (same pointer, same stride); any other overlap is a mistake of the
// caller.
export * from "./dense/activation";
export * from "./dense/auc";
export * from "./dense/inbatch";
export * from "./dense/broadcast";
export { batchMatMulF32, multiplyU32 } from "./dense/batch-matmul";
export * from "./dense/blocks";
export * from "./dense/cast";
export * from "./dense/dropout";
export * from "./dense/elementwise";
export * from "./dense/fm";
export * from "./dense/gemm";
export * from "./dense/gemm-repeats";
export * from "./dense/gemm-repeats-grad";
export * from "./dense/groups";
export * from "./dense/inner";
export * from "./dense/leaky";
export * from "./dense/logit-losses";
export * from "./dense/loss";
export * from "./dense/norm";
export { applyAdagradF32, applyFtrlF32, applySgdF32 } from "./dense/optimizers";
export * from "./dense/pairs";
export * from "./dense/reduce";
export * from "./dense/rows";
export * from "./dense/shared";
export * from "./dense/softmax";
export * from "./dense/top-k";
export * from "./dense/smooth";
export * from "./dense/softmax-loss";
export * from "./dense/whole";
