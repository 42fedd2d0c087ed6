/**
 * @file The optimizers of dense variables under upstream's names; the public surface has them as `optimizers`, since the
 * configs of table optimizers have the same names.
 */
export { AdamomOptimizer, applyDenseLegacy, RmspropOptimizer } from './monolith-optimizers.js';
export { Optimizer } from './optimizer.js';
export { ShampooOptimizer } from './shampoo.js';
export {
  AdagradOptimizer,
  AdamOptimizer,
  FtrlOptimizer,
  GradientDescentOptimizer,
  MomentumOptimizer,
} from './tf-optimizers.js';
