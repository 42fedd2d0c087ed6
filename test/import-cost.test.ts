/**
 * @file What an import of the package loads: each file costs every program about half a millisecond before its first
 * line (Node.js 20), so the build joins sources that are loaded together, and what few programs need is loaded on first
 * use. Files and bytes are counted, since times depend on the machine.
 */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import t from 'tap';
import { rootFile } from './support/import-graph.js';

const textOf = (file: string) => readFileSync(rootFile(file), 'utf8');

/** What a file imports when it is loaded: `import(…)` is for later, and types are for the compiler. */
function importsOf(text: string): string[] {
  const imports = /^(?:(?:import|export)\b(?! type\b)[^;]*?\bfrom |import )(['"])([^'"]+)\1/gm;
  return [...text.matchAll(imports)].map(([, , path]) => path!);
}

/** Files and packages that importing a built file loads, how large they are, and the sources they were made of. */
function loadedBy(entry: string) {
  const files = new Set([`build/${entry}`]);
  const packages = new Set<string>();
  const sources = new Set<string>();
  let bytes = 0;
  for (const file of files) {
    const text = textOf(file);
    bytes += text.length;
    for (const path of importsOf(text)) {
      if (path.startsWith('.')) files.add(posix.join(posix.dirname(file), path));
      else if (!path.startsWith('node:')) packages.add(path);
    }
    if (!text.includes('//# sourceMappingURL=')) continue;
    const map = JSON.parse(textOf(`${file}.map`)) as { readonly sources: readonly string[] };
    for (const source of map.sources) sources.add(posix.join(posix.dirname(file), source));
  }
  return { files, packages: [...packages].sort(), sources, kilobytes: Math.ceil(bytes / 1000) };
}

/** The sources that a source would load if each were a file of its own. */
function sourcesOf(entry: string): Set<string> {
  const sources = new Set([entry]);
  for (const source of sources) {
    for (const path of importsOf(textOf(source))) {
      if (path.startsWith('.')) sources.add(posix.join(posix.dirname(source), path.replace(/\.js$/, '.ts')));
    }
  }
  return sources;
}

const ENTRIES: readonly (readonly [entry: string, filesMax: number, kilobytesMax: number])[] = [
  // 390 files were 220 ms of CPU time over plain Node.js 20, these 60; 150 with Node.js itself is the limit.
  ['src/index.js', 32, 900],
  ['src/api/tables.js', 28, 370],
  ['src/api/cuda.js', 10, 55],
  ['src/api/trace.js', 13, 75],
  ['src/api/serve.js', 26, 490],
  // What commands are called; their flags and what they do is loaded for the one that a command line names.
  ['src/cli/main.js', 8, 70],
  ['workers/pool-worker.js', 11, 40],
  ['workers/data-reader.js', 15, 60],
];

for (const [entry, filesMax, kilobytesMax] of ENTRIES) {
  t.test(`${entry} loads no more than it needs`, async (t) => {
    const { files, packages, sources, kilobytes } = loadedBy(entry);
    t.ok(files.size <= filesMax, `${files.size} files, ${filesMax} at the most`);
    t.ok(kilobytes <= kilobytesMax, `${kilobytes} kB, ${kilobytesMax} at the most`);
    // Schemas of flags, and so zod, come for the command that a command line names.
    t.same(packages, entry.startsWith('src/cli/') ? ['commander'] : [], 'dependencies are loaded on first use');
    for (const late of [
      'runtime/compile/compiler',
      'runtime/backends/cuda/cuda-device',
      'checkpoint/save-checkpoint',
    ]) {
      t.notOk(sources.has(`src/${late}.ts`), `${late} comes later`);
    }
    const own = sourcesOf(entry.replace(/\.js$/, '.ts'));
    t.same([...sources].filter((source) => !own.has(source)).sort(), [], 'nothing comes with a file that it is in');
  });
}

t.test('a walk finds what is imported in any way', async (t) => {
  const sources = sourcesOf('src/api/checkpoints.ts');
  t.ok(sources.has('src/checkpoint/on-demand.ts'), 'what is exported from elsewhere');
  t.ok(sources.has('src/base/errors.ts'), 'and what that imports');
  t.notOk(sources.has('src/checkpoint/save-checkpoint.ts'), 'but not what a function loads');
  t.ok(loadedBy('src/checkpoint/save-checkpoint.js').sources.has('src/checkpoint/save-checkpoint.ts'));
  t.ok(loadedBy('src/runtime/compile/compiler.js').sources.has('src/runtime/compile/compiler.ts'));
});
