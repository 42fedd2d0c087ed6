/**
 * @file Loads one case of test/fixtures/parity-sparse.json, which holds the reference's own numbers, by module and
 * name.
 */
import { parityCases } from './support/parity-cases.js';

/** Input and expectation of a case, typed by the test that knows its shape. */
export const parityCase = parityCases('parity-sparse.json');
