/** @file Cases of the files of golden values in test/fixtures, by module and name. */
import { readFileSync } from 'node:fs';
import { rootFile } from './import-graph.js';

interface ParityCase {
  readonly module: string;
  readonly case: string;
  readonly input: unknown;
  readonly expected: unknown;
}

/** Finds cases of a file; who asks for one says what its input and expectation look like. */
export function parityCases(file: string) {
  const cases = JSON.parse(readFileSync(rootFile(`test/fixtures/${file}`), 'utf8')) as readonly ParityCase[];
  return <Input, Expected>(module: string, name: string): { input: Input; expected: Expected } => {
    const found = cases.find((one) => one.module === module && one.case === name);
    if (found === undefined) throw new Error(`no parity case ${module}: ${name}`);
    return { input: found.input as Input, expected: found.expected as Expected };
  };
}
