/**
 * @file What an import of the package loads: each module costs every program about half a millisecond before its first
 * line (Node.js 20), so what few programs need is loaded on first use. Modules are counted, since times depend on the
 * machine.
 */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import t from 'tap';
import { rootFile } from './support/import-graph.js';

/** Files and packages that importing a built file loads: types are gone from those, and `import(…)` is for later. */
function loadedBy(entry: string): { readonly files: string[]; readonly packages: string[] } {
  const files = new Set([entry]);
  const packages = new Set<string>();
  for (const file of files) {
    const text = readFileSync(rootFile(`build/${file}`), 'utf8');
    for (const [, path] of text.matchAll(/^(?:(?:import|export)\b[^;]*?\bfrom |import )'([^']+)'/gm)) {
      if (path!.startsWith('.')) files.add(posix.join(posix.dirname(file), path!));
      else if (!path!.startsWith('node:')) packages.add(path!);
    }
  }
  return { files: [...files], packages: [...packages].sort() };
}

const ENTRIES: readonly (readonly [entry: string, filesMax: number])[] = [
  // 340 were 139 ms of CPU time over plain Node.js 20; 150 is the aim.
  ['src/index.js', 395],
  ['src/api/tables.js', 180],
  ['src/api/trace.js', 30],
  // Commands with their flags are files of their own; what they do is loaded when they run.
  ['src/cli/main.js', 55],
];

for (const [entry, filesMax] of ENTRIES) {
  t.test(`${entry} loads no more than it needs`, async (t) => {
    const { files, packages } = loadedBy(entry);
    t.ok(files.length <= filesMax, `${files.length} files, ${filesMax} at the most`);
    t.same(packages, entry.startsWith('src/cli/') ? ['commander', 'zod'] : [], 'dependencies are loaded on first use');
    for (const late of ['runtime/compile/compiler', 'runtime/backends/cuda/driver', 'checkpoint/save-checkpoint']) {
      t.notOk(files.includes(`src/${late}.js`), `${late} comes later`);
    }
  });
}

t.test('a walk finds what is imported in any way', async (t) => {
  const { files } = loadedBy('src/api/checkpoints.js');
  t.ok(files.includes('src/checkpoint/on-demand.js'), 'what is exported from elsewhere');
  t.ok(files.includes('src/base/errors.js'), 'and what that imports');
  t.notOk(files.includes('src/checkpoint/save-checkpoint.js'), 'but not what a function loads');
});
