/**
 * @file The optimizers of variables under upstream's names: native_training/optimizers, and those of TensorFlow.
 *
 * They stand in a namespace, because row optimizers (native_training/entry) have some of these names too.
 */
export { AdamomOptimizer, applyDenseLegacy, RmspropOptimizer } from '../optim/monolith-optimizers.js';
export { Optimizer } from '../optim/optimizer.js';
export { ShampooOptimizer } from '../optim/shampoo.js';
export {
  AdagradOptimizer,
  AdamOptimizer,
  FtrlOptimizer,
  GradientDescentOptimizer,
  MomentumOptimizer,
} from '../optim/tf-optimizers.js';
