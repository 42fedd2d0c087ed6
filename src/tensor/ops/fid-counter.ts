/** @file Counts how often a fid was seen, in a table row trained with sgd at rate 1. Mirrors fid_counter. */
import { Tensor } from '../tensor.js';

type Floats = Tensor<'float32'>;

/** min(counter + step, threshold). */
export function fidCounter(counter: Floats, threshold: number, step = 1): Floats {
  const limit = Math.fround(threshold);
  return new Tensor(
    'float32',
    counter.shape,
    counter.data.map((count) => Math.min(Math.fround(count + Math.fround(step)), limit)),
  );
}

/** The gradient that makes sgd at rate 1 count: -step, or 0 when the threshold is reached. */
export function fidCounterGradient(counter: Floats, threshold: number, step = 1): Floats {
  return new Tensor(
    'float32',
    counter.shape,
    counter.data.map((count) => (count >= threshold ? 0 : -step)),
  );
}
