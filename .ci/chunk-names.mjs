/**
 * @file Which sources share a file of the bundle: those that the same programs load.
 *
 * So nothing is loaded that would not be loaded from files of their own, and chunks cannot need each other in a circle.
 * What is imported later (`import(…)`) is like a program, for sources that no program loads when it starts.
 */

/**
 * From sources to the names of their chunks. `imports` has, for each source, the sources that it imports `now` and
 * `later`, and whether it `exportsAny` thing; `programs` are the sources that people and threads start from. Those are
 * in no chunk, since to load a program is to run it, and neither is what a program imports for what that does alone,
 * or what nothing else needs at once.
 */
export function chunkNames(imports, programs) {
  const all = [...imports.values()];
  const imported = new Set(all.flatMap(({ now }) => now));
  const unasked = [...imports.keys()].filter((source) => !imported.has(source));
  const first = loadersOf(imports, programs);
  const later = loadersOf(imports, new Set([...all.flatMap((source) => source.later), ...unasked]));
  const acts = (source) => !imports.get(source).exportsAny;
  const alone = new Set(programs.flatMap((program) => [program, ...imports.get(program).now.filter(acts)]));
  const groups = new Map();
  for (const source of [...imports.keys()].sort()) {
    if (alone.has(source)) continue;
    const key = (first.get(source) ?? ['later', ...(later.get(source) ?? [])]).join(' ');
    groups.set(key, [...(groups.get(key) ?? []), source]);
  }
  const names = new Map();
  const taken = new Set();
  for (const sources of groups.values()) {
    if (sources.length === 1 && !imported.has(sources[0])) continue;
    const name = freeName(mainPath(sources), taken);
    for (const source of sources) names.set(source, name);
  }
  return names;
}

/** From each source to those of `roots` that load it. */
function loadersOf(imports, roots) {
  const loaders = new Map();
  for (const root of [...roots].sort()) {
    const reached = new Set([root]);
    for (const source of reached) {
      loaders.set(source, [...(loaders.get(source) ?? []), root]);
      for (const target of imports.get(source)?.now ?? []) reached.add(target);
    }
  }
  return loaders;
}

/** Where most of the sources are, for those who read a stack: `sparse.files`, or `base.errors` of one source. */
function mainPath(sources) {
  const path = [];
  for (let rest = sources.map((source) => source.replace(/\.ts$/, '').split('/').slice(1)); ; ) {
    const counts = new Map();
    for (const [part] of rest) if (part !== undefined) counts.set(part, (counts.get(part) ?? 0) + 1);
    const [part, count = 0] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
    if (count * 2 <= sources.length) break;
    path.push(part);
    rest = rest.filter((parts) => parts[0] === part).map((parts) => parts.slice(1));
  }
  return path.join('.') || 'shared';
}

function freeName(name, taken) {
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${name}-${count}`;
  taken.add(free);
  return free;
}
