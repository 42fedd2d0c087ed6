/** @file The row optimizers in plain TypeScript: what assembly/optim is held to, bit for bit. */
export * from './optim/accumulate.js';
export { applyAdamF32, applyAmsgradF32 } from './optim/adam.js';
export * from './optim/clip.js';
export * from './optim/decorate.js';
export * from './optim/dense.js';
export * from './optim/eigen.js';
export * from './optim/ftrl.js';
export * from './optim/group.js';
export * from './optim/rmsprop.js';
export * from './optim/shampoo.js';
export * from './optim/step.js';
export * from './optim/variables.js';
