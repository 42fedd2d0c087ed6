/**
 * @file Places of src/ where the compiler is told a type in place of finding it: each is listed here with its reason.
 */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { rootFile, sourcesIn } from './support/import-graph.js';

/** How many a file has, and why the compiler cannot know better. */
const HOLES: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  'src/base/params/instantiable-params.ts': [2, 'constructors of any arguments; a copy has the type of what it copies'],
  'src/base/params/params.ts': [1, 'names of parameters are in the type alone, a proxy answers for them'],
  'src/checkpoint/foreign-checkpoint.ts': [1, 'tensors of other dtypes are refused by the match before they are read'],
  'src/metrics/evaluate.ts': [1, 'whether there are metrics depends on a type parameter'],
  'src/portable/model-json.ts': [4, 'interfaces are no records of JSON values; what is read was checked by a schema'],
  'src/portable/portable-schema.ts': [2, 'a field is searched for functions and loses them: they are no data'],
  'src/runtime/backends/cuda/launch-grids.ts': [1, 'a map over a tuple is typed as a list'],
  'src/runtime/backends/reference/dense/combinators.ts': [
    2,
    'words of operands that extend others are not seen as theirs',
  ],
  'src/runtime/backends/wasm/instantiate-kernels.ts': [
    1,
    'exports of a WebAssembly module have no types; tests call each',
  ],
  'src/serve/loaded-model.ts': [
    2,
    'the features of a file are known when it is read, the type is what the caller names',
  ],
  'src/tensor/nested.ts': [1, 'the default is for one pair of type arguments, which the parameter demands'],
  'src/train/config/config-record.ts': [4, 'properties of a record are made from a table, which classes do not see'],
  'src/train/async-function-mgr.ts': [1, 'arguments are passed on, of any type'],
};
const HOLE = /\bas unknown as\b|\bas any\b|(?::|<|\|) ?any\b(?=[\])>;,|[])|@ts-(?:expect-error|ignore|nocheck)/g;

function holesOf(text: string): number {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/(?!.*@ts-).*$/gm, '');
  return [...code.matchAll(HOLE)].length;
}

t.test('every hole in the types is known', async (t) => {
  const found = sourcesIn('src').map((file) => [file, holesOf(readFileSync(rootFile(file), 'utf8'))] as const);
  t.same(
    Object.fromEntries(found.filter(([, count]) => count > 0)),
    Object.fromEntries(Object.entries(HOLES).map(([file, [count]]) => [file, count])),
    'remove it, or list it with its reason',
  );
});

t.test('a hole is seen in any form', async (t) => {
  const forms = ['x as unknown as Y', 'x as any;', 'a: any[]', 'f(...args: any)', 'Map<any>', '// @ts-expect-error'];
  for (const form of forms) t.equal(holesOf(form), 1, form);
  t.equal(holesOf('/** as unknown as */\n// of any: any number\nconst many = 1;'), 0);
});
