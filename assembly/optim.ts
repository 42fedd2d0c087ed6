// Row optimizers: one step of the `n` weights of a segment, from its gradient, in place. adagrad, sgd and ftrl are with the
// dense kernels, which use the same rules.
export * from "./optim/accumulate";
export { applyAdamF32, applyAmsgradF32 } from "./optim/adam";
export * from "./optim/decorate";
export * from "./optim/dense";
export * from "./optim/ftrl";
export * from "./optim/group";
export * from "./optim/rmsprop";
export * from "./optim/step";
