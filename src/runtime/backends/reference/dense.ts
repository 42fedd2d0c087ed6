/**
 * @file Plain TypeScript twins of assembly/dense: what every backend is held to.
 *
 * Same names and arguments, after a first `m: Views`. Bit-equal to the WASM kernels except where exp and log enter.
 */
export * from './dense/activation.js';
export * from './dense/auc.js';
export * from './dense/batch-matmul.js';
export * from './dense/blocks.js';
export * from './dense/broadcast.js';
export * from './dense/cast.js';
export * from './dense/dropout.js';
export * from './dense/elementwise.js';
export * from './dense/fm.js';
export * from './dense/gemm.js';
export * from './dense/gemm-repeats.js';
export * from './dense/groups.js';
export * from './dense/inbatch.js';
export * from './dense/inner.js';
export * from './dense/leaky.js';
export * from './dense/logit-losses.js';
export * from './dense/norm.js';
export * from './dense/optimizers.js';
export * from './dense/pairs.js';
export * from './dense/reduce.js';
export * from './dense/rows.js';
export * from './dense/shared.js';
export * from './dense/smooth.js';
export * from './dense/softmax.js';
export * from './dense/softmax-loss.js';
export * from './dense/top-k.js';
export * from './dense/whole.js';
