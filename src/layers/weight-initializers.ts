/** @file First values of the weights of layers. */
import { hashU32, hashUniform } from '../base/random.js';

/**
 * `glorot` is uniform within sqrt(6 / (inputs + outputs)), `he` within sqrt(6 / inputs). A function gets the shape and
 * a source of numbers in [0, 1) that is the same in every run.
 */
export type WeightInitializer =
  | 'glorot'
  | 'he'
  | 'zeros'
  | 'ones'
  | ((shape: readonly number[], random: () => number) => Float32Array);

/**
 * First values of the variable called `name`: they depend on its name and the seed, not on what else is in the graph.
 */
export function fillInitial(
  initializer: WeightInitializer,
  shape: readonly number[],
  name: string,
  seed: number,
): Float32Array {
  const key = [...name].reduce((hash, letter) => hashU32(hash, letter.codePointAt(0)!), seed);
  let drawn = 0;
  const random = () => hashUniform(seed, key, drawn++);
  const count = shape.reduce((product, size) => product * size, 1);
  const within = (limit: number) => Float32Array.from({ length: count }, () => (2 * random() - 1) * limit);
  if (typeof initializer === 'function') return initializer(shape, random);
  const outputs = shape.at(-1) ?? 1;
  const inputs = shape.length > 1 ? count / outputs : outputs;
  switch (initializer) {
    case 'glorot':
      return within(Math.sqrt(6 / (inputs + outputs)));
    case 'he':
      return within(Math.sqrt(6 / inputs));
    case 'zeros':
      return new Float32Array(count);
    case 'ones':
      return new Float32Array(count).fill(1);
    default:
      return initializer satisfies never;
  }
}
