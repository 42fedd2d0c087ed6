/** @file Loads one case of test/fixtures/parity-sparse.json, which holds the reference's own numbers, by module and name. */
import { readFileSync } from 'node:fs';

interface ParityCase {
  readonly module: string;
  readonly case: string;
  readonly input: unknown;
  readonly expected: unknown;
}

const FILE = new URL('../../test/fixtures/parity-sparse.json', import.meta.url);
const cases = JSON.parse(readFileSync(FILE, 'utf8')) as readonly ParityCase[];

/** Input and expectation of a case, typed by the test that knows its shape. */
export function parityCase<Input, Expected>(module: string, name: string): { input: Input; expected: Expected } {
  const found = cases.find((one) => one.module === module && one.case === name);
  if (found === undefined) throw new Error(`no parity case ${module}/${name}`);
  return { input: found.input as Input, expected: found.expected as Expected };
}
