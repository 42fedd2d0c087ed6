/** @file The lowering of an op is in the file of its name: of src/graph/ops/rows.ts in compile/lower/rows.ts. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { rootFile, sourcesIn } from '../support/import-graph.js';

const FOLDER = 'src/runtime/compile/lower/';

/** Where each op that a file lowers is defined: below src/graph, without its ending. */
function loweredBy(text: string): Map<string, string> {
  const places = new Map<string, string>();
  for (const [, names, place] of text.matchAll(/import \{([^}]*)\} from '(?:\.\.\/)+graph\/([\w/-]+)\.js'/g)) {
    for (const name of names!.split(',')) places.set(name.trim(), place!);
  }
  const lowered = [...text.matchAll(/registerLowering\(\s*(\w+),/g)].map(([, name]) => name!);
  return new Map(lowered.filter((name) => places.has(name)).map((name) => [name, places.get(name)!]));
}

t.test('every lowering is in the file of its op', async (t) => {
  let count = 0;
  for (const file of sourcesIn(FOLDER)) {
    const own = file.slice(FOLDER.length, -'.ts'.length);
    const elsewhere = [...loweredBy(readFileSync(rootFile(file), 'utf8'))].filter(([, place]) => {
      count++;
      // What makes an op may stand beside it: graph/ops/unary-op.ts is of unary.ts.
      return place.replace(/^ops\//, '').replace(/-op$/, '') !== own;
    });
    t.same(elsewhere, [], file);
  }
  t.ok(count > 70, `${count} lowerings were found`);
});

t.test('every file of lowerings is loaded', async (t) => {
  const all = readFileSync(rootFile(`${FOLDER}all.ts`), 'utf8');
  const loaded = [...all.matchAll(/^import '\.\/([\w-]+)\.js'/gm)].map(([, name]) => `${FOLDER}${name}.ts`);
  t.same(loaded, [...loaded].sort());
  const registering = sourcesIn(FOLDER).filter((file) =>
    readFileSync(rootFile(file), 'utf8').includes('registerLowering('),
  );
  t.same(loaded, registering.sort());
});
