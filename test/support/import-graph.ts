/**
 * @file Which source file imports which, read from the sources: types, re-exports and dynamic imports count too.
 *
 * The order of rooms, the absence of cycles, code that only tests reach and the page docs/imports.md all come from
 * here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** From each file to the files it imports, as paths from the root of the repository with `/`, both sorted. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Where a file of the repository is. */
export const rootFile = (path: string): string => `${root}${path}`;

/** What a browser runs is compiled by itself, and no part of what Node.js loads. */
const IN_BROWSERS = 'src/report/browser/';

/** Files of TypeScript below a folder of the repository. */
export function sourcesIn(folder: string): string[] {
  return readdirSync(`${root}${folder}`, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, `${entry.parentPath}/${entry.name}`).split(sep).join('/'))
    .filter((file) => !file.startsWith(IN_BROWSERS))
    .sort();
}

/**
 * Relative paths that a text imports, and files it starts threads or processes with:
 * `new URL('./x.js', import.meta.url)`.
 */
export function importsOf(text: string): { readonly imported: string[]; readonly started: string[] } {
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1]!);
  return {
    imported: all(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g),
    started: all(/new URL\(\s*'(\.[^']+\.js)',\s*import\.meta\.url/g),
  };
}

/** The source behind a path as it is imported, `../x/y.js`, or null for what is no source of ours. */
function sourceOf(from: string, path: string, known: ReadonlySet<string>): string | null {
  const stem = posix.join(posix.dirname(from), path).replace(/\.js$/, '');
  return [`${stem}.ts`, `${stem}.d.ts`].find((file) => known.has(file)) ?? null;
}

/** The graph of the files below `folders`. With `started`, a file also leads to those it starts as a thread. */
export function readImportGraph(folders: readonly string[], { started = false } = {}): ImportGraph {
  const files = folders.flatMap(sourcesIn);
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const found = importsOf(readFileSync(`${root}${file}`, 'utf8'));
      const paths = started ? [...found.imported, ...found.started] : found.imported;
      const targets = paths.map((path) => sourceOf(file, path, known)).filter((target) => target !== null);
      return [file, [...new Set(targets)].sort()];
    }),
  );
}

/** Files that can be reached from `starts`, those included. */
export function reachable(graph: ImportGraph, starts: readonly string[]): ReadonlySet<string> {
  const seen = new Set(starts);
  for (const file of seen) for (const target of graph.get(file) ?? []) seen.add(target);
  return seen;
}

/** Groups of files that all reach each other: each holds at least one cycle. Tarjan's strongly connected components. */
export function cycles(graph: ImportGraph): string[][] {
  const groups: string[][] = [];
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const visit = (file: string): number => {
    const known = low.get(file);
    if (known !== undefined) return known;
    const index = order.size;
    order.set(file, index);
    low.set(file, index);
    open.push(file);
    for (const target of graph.get(file) ?? []) {
      if (!order.has(target) || open.includes(target)) low.set(file, Math.min(low.get(file)!, visit(target)));
    }
    if (low.get(file) === index) {
      const group = open.splice(open.indexOf(file));
      if (group.length > 1 || graph.get(file)?.includes(file)) groups.push(group.sort());
    }
    return low.get(file)!;
  };
  for (const file of graph.keys()) visit(file);
  return groups;
}

/** A shortest cycle within a group, as the files in order. */
export function shortestCycle(graph: ImportGraph, group: readonly string[]): string[] {
  const inside = new Set(group);
  let best: string[] = [];
  for (const start of group) {
    const before = new Map<string, string>();
    const queue = [start];
    for (const file of queue) {
      for (const target of graph.get(file) ?? []) {
        if (!inside.has(target) || before.has(target)) continue;
        before.set(target, file);
        queue.push(target);
      }
    }
    const path: string[] = [];
    for (let at = before.get(start); at !== undefined; at = at === start ? undefined : before.get(at)) path.unshift(at);
    if (path.length > 0 && (best.length === 0 || path.length < best.length)) best = path;
  }
  return best;
}
