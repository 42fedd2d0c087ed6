/** @file Activations of layers, by name or as a function of yours. */
import { misfit, type Tensor } from '../graph/graph.js';
import { gelu, leakyRelu, relu, sigmoid, softplus, swish, tanh } from '../graph/ops/activations.js';

const BY_NAME = {
  linear: (x: Tensor) => x,
  relu: (x: Tensor) => relu(x),
  sigmoid: (x: Tensor) => sigmoid(x),
  tanh: (x: Tensor) => tanh(x),
  gelu: (x: Tensor) => gelu(x),
  swish: (x: Tensor) => swish(x),
  softplus: (x: Tensor) => softplus(x),
  leakyRelu: (x: Tensor) => leakyRelu(x),
} as const;

export type LayerActivation = keyof typeof BY_NAME | ((x: Tensor) => Tensor);

export function activate(x: Tensor, activation: LayerActivation = 'linear'): Tensor {
  if (typeof activation === 'function') return activation(x);
  if (!Object.hasOwn(BY_NAME, activation)) throw misfit(String(activation), 'there is no activation of this name');
  return BY_NAME[activation](x);
}
