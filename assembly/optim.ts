// Row optimizers: one step of the `n` weights of a segment, from its gradient, in place. adagrad, sgd and ftrl are with
// the dense kernels, which use the same rules.
export * from "./optim/accumulate";
export { applyAdamF32, applyAmsgradF32 } from "./optim/adam";
export * from "./optim/clip";
export * from "./optim/decorate";
export * from "./optim/dense";
export * from "./optim/eigen";
export * from "./optim/ftrl";
export * from "./optim/group";
export * from "./optim/rmsprop";
export { applyShampooF32, inverseRootF32, preconditionF32 } from "./optim/shampoo";
export * from "./optim/step";
export * from "./optim/variables";
