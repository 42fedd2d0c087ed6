/**
 * @file The walk of one batch in docs/architecture.md: files and functions that exist, in legs that go forward only.
 */
import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { type ImportGraph, reachable, readImportGraph, rootFile, sourcesIn } from './support/import-graph.js';
import { mayImport, roomOf } from './support/rooms.js';

interface Stop {
  readonly file: string;
  readonly name: string;
}

const text = readFileSync(rootFile('docs/architecture.md'), 'utf8');
const section = text.slice(text.indexOf('## The walk of one batch'), text.indexOf('## Programs, registers, kernels'));
const LEGS = section
  .split('### ')
  .slice(1)
  .map((leg) => ({
    title: leg.slice(0, leg.indexOf('\n')),
    stops: [...leg.matchAll(/^\| `([^`]+)` +\| `([^`]+)` +\|/gm)].map(([, file, name]): Stop => {
      return { file: file!, name: name! };
    }),
  }));

/** Kernels name their imports without an ending. */
function kernelGraph(): ImportGraph {
  const files = sourcesIn('assembly');
  return new Map(
    files.map((file) => {
      const paths = [...readFileSync(rootFile(file), 'utf8').matchAll(/from "(\.[^"]+)"/g)].map(([, path]) => path!);
      const targets = paths.map((path) => new URL(`${path}.ts`, `file:///${file}`).pathname.slice(1));
      return [file, targets];
    }),
  );
}

const GRAPH: ImportGraph = new Map([...readImportGraph(['src', 'workers'], { started: true }), ...kernelGraph()]);

t.test('the walk begins at the command and ends at a file on disk', async (t) => {
  t.equal(LEGS.length, 8);
  t.equal(LEGS[0]!.stops[0]!.file, 'src/cli/main.ts');
  t.equal(LEGS.at(-1)!.stops.at(-1)!.file, 'src/base/files/atomic-file.ts');
  for (const { title, stops } of LEGS) t.ok(stops.length >= 2, `${title} has ${stops.length} stops`);
});

for (const { title, stops } of LEGS) {
  t.test(`walk: ${title}`, async (t) => {
    for (const { file, name } of stops) {
      t.ok(existsSync(rootFile(file)), `${file} exists`);
      const bare = name.replace('#', '\\#');
      const source = readFileSync(rootFile(file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');
      t.match(source, new RegExp(`(?<![\\w#])${bare}(?!\\w)`), `${file} has ${name}`);
    }
    for (const [index, { file }] of stops.slice(1).entries()) {
      const from = stops[index]!.file;
      if (from === file) continue;
      t.ok(reachable(GRAPH, [from]).has(file), `${from} leads to ${file}`);
      const [room, next] = [roomOf(from), roomOf(file)];
      if (room !== null && next !== null)
        t.ok(mayImport(room, next), `${next} comes before ${room} in the order of rooms`);
    }
  });
}
