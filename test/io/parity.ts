/**
 * @file Golden values of test/fixtures/parity-io.json, by module and name of the case.
 */
import { readFileSync } from 'node:fs';

interface ParityCase {
  readonly module: string;
  readonly case: string;
  readonly input: unknown;
  readonly expected: unknown;
}

// Tests run from build/test/io/.
const cases: ParityCase[] = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/parity-io.json', import.meta.url), 'utf8'),
);

/** Input and expectation of one case; the caller says what they look like. */
export function parityCase<I, E>(module: string, name: string): { input: I; expected: E } {
  const found = cases.find((item) => item.module === module && item.case === name);
  if (found === undefined) throw new Error(`no parity case ${module}: ${name}`);
  return { input: found.input as I, expected: found.expected as E };
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}
