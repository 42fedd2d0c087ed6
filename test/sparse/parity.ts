/** @file Looks up a case of the upstream numbers in test/fixtures/parity-sparse.json. */
import { readFileSync } from 'node:fs';

interface Case {
  readonly module: string;
  readonly case: string;
}

const file = new URL('../../../test/fixtures/parity-sparse.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as Case[];

/** Input and expectation of a case. Their shape is the case's own: `T` says which. */
export function parityCase<T>(module: string, name: string): T {
  const found = cases.find((c) => c.module === module && c.case === name);
  if (!found) throw new Error(`parity-sparse.json has no case ${module}/${name}`);
  return found as T;
}
