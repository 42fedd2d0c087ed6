/** @file How the rows of an example become one: what a feature column is told. `combiners` of the package. */
import { type Combiner, FirstN, ReduceMean, ReduceSum } from '../feature/model/combiners.js';

export type { Combiner };

/** The sum of the rows of each example, `[batch, dim]`: the default of a column. */
export const sum = (): Combiner => new ReduceSum();

/** The mean of the rows of each example; zeros for an example without ids. */
export const mean = (): Combiner => new ReduceMean();

/** The rows of the first `length` ids, `[batch, length, dim]`; missing positions are zero, further ids are dropped. */
export const firstN = (length: number): FirstN => new FirstN(length);
