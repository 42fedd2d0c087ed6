/** @file Looks up a case of the upstream numbers in test/fixtures/parity-sparse.json. */
import * as sparse from '../parity-sparse.js';

/** Input and expectation of a case. Their shape is the case's own: `T` says which. */
export function parityCase<T>(module: string, name: string): T {
  return sparse.parityCase(module, name) as T;
}
