/** @file Plain TypeScript twins of assembly/ops: the meaning of each kernel, over the same pointers. */
export * from './ops/gather.js';
export * from './ops/layout.js';
export * from './ops/reorder.js';
export * from './ops/sharding.js';
