/**
 * @file Golden values of test/fixtures/parity-io.json, by module and name of the case.
 */
import { parityCases } from '../support/parity-cases.js';

/** Input and expectation of one case; the caller says what they look like. */
export const parityCase = parityCases('parity-io.json');

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}
