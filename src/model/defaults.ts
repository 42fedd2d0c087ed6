/** @file How rows and variables of models are stepped, and what rows start from, where a model does not say it. */
import { RandomUniformInitializer } from '../sparse/config/initializers.js';
import { AdagradOptimizer } from '../sparse/config/optimizers.js';

/** Steps rows: its first steps are of the size of the rate, however small the gradients of a mean loss are. */
export const ROW_OPTIMIZER = AdagradOptimizer({ learningRate: 0.05, initialAccumulatorValue: 1e-6 });
export const ROW_INITIALIZER = RandomUniformInitializer(-0.05, 0.05);
/** Steps variables. */
export const DENSE_OPTIMIZER = AdagradOptimizer({ learningRate: 0.05, initialAccumulatorValue: 1e-6 });
