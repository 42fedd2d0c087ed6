/** @file Reads parity files: their cases by meaning, whatever the fields of a case and of its tolerance are called. */
import { readFileSync } from 'node:fs';
import { type Fields, fieldsOf, isRecord, type ParityCase, renamed, type Tolerance } from './case.js';
import { CASE_NAMES } from './same-names.js';

const TOLERANCE = ['exact', 'abs', 'rel', 'ulp', 'abs_state', 'abs_per_case', 'ratio_between', 'note'];
/** Files that every form of a case is documented in. */
const DOCUMENTED = ['parity-sparse.json', 'parity-io.json'];

/** Entries of a file: a list of cases, or a record that has one under `cases` beside remarks. */
export function readCases(path: string | URL): readonly Fields[] {
  const whole: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const cases = isRecord(whole) ? whole.cases : whole;
  if (!Array.isArray(cases)) throw new Error('a parity file is a list of cases');
  return cases.map((item: unknown, i) => {
    if (!isRecord(item)) throw new Error(`entry ${i} is not a record`);
    return item;
  });
}

/** Names of input and expectation that files use for a module. */
interface Vocabulary {
  readonly input: readonly string[];
  readonly expected: readonly string[];
}

const vocabularies = new Map<string, Vocabulary>();

function vocabularyOf(module: string): Vocabulary {
  if (vocabularies.size === 0) {
    const namesOf = (cases: readonly Fields[], part: string) => [
      ...new Set(cases.flatMap((one) => (isRecord(one[part]) ? Object.keys(one[part]) : []))),
    ];
    const all = DOCUMENTED.flatMap((name) => readCases(new URL(`../../../test/fixtures/${name}`, import.meta.url)));
    for (const name of new Set(all.map((one) => String(one.module)))) {
      const cases = all.filter((one) => one.module === name);
      vocabularies.set(name, { input: namesOf(cases, 'input'), expected: namesOf(cases, 'expected') });
    }
  }
  return vocabularies.get(module) ?? { input: [], expected: [] };
}

/** A number alone is an absolute tolerance; `exact` alone is a word. */
function toleranceOf(given: unknown): Tolerance | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given === 'number') return { abs: given };
  if (given === 'exact') return { exact: true };
  return fieldsOf(given, [], TOLERANCE, { where: 'the tolerance', rows: CASE_NAMES }) as Tolerance;
}

/** The case of an entry, with the names that the handler of its module knows. */
export function parityCaseOf(entry: Fields): ParityCase {
  const required = ['module', 'case', 'input', 'expected'];
  const given = fieldsOf(entry, required, ['tolerance', 'source_test', 'note'], {
    where: 'the entry',
    rows: CASE_NAMES,
  });
  const known = vocabularyOf(String(given.module));
  // Fields of the input get their names from the handler, which knows all of them; here only the spelling is made one.
  const input = isRecord(given.input) ? renamed(given.input, known.input, []) : given.input;
  // Some cases have their tolerance among what they expect.
  const { tolerance: among, ...wanted } = isRecord(given.expected) ? given.expected : { tolerance: undefined };
  const expected = isRecord(given.expected) ? renamed(wanted, known.expected) : given.expected;
  const tolerance = toleranceOf(given.tolerance ?? among);
  return {
    module: String(given.module),
    case: String(given.case),
    input,
    expected,
    ...(tolerance === undefined ? {} : { tolerance }),
  };
}
