/**
 * @file Joins the sources of src/ and workers/ into few files: Node.js takes half a millisecond and more for each file
 * that it loads, and there are more than a thousand.
 *
 * What is loaded together is in one file of build/chunks. Each source has a file of its own path in build as well: its
 * code where it shares no chunk, otherwise the names that a chunk has for what it exports. By whichever path a thing is
 * imported, it is there once.
 */
import { join, posix } from 'node:path';
import { chunkNames } from './chunk-names.mjs';

const OWN_PLACE = 'import.meta.url';
/** Stands for the way from a file to build, until it is known which file the code is in. */
const WAY = '@way-to-build/';

/**
 * The texts of the bundle by their paths below build. `sources` are paths from `root`; `programs` are those of them
 * that people and threads start from.
 */
export async function bundle(root, sources, programs) {
  // Only a build that has something to do loads the bundler.
  const { rolldown } = await import('rolldown');
  const ids = new Map(sources.map((source) => [join(root, source), source]));
  const made = await rolldown({
    cwd: root,
    input: Object.fromEntries([...ids].map(([id, source]) => [source.replace(/\.ts$/, ''), id])),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !ids.has(id),
    resolve: { extensionAlias: { '.js': ['.ts'] } },
    transform: { target: 'es2022', typescript: { onlyRemoveTypeImports: true } },
    tsconfig: false,
    // Every name can be imported by the path of its source, and what a source does when it is loaded is part of it.
    treeshake: false,
    preserveEntrySignatures: 'allow-extension',
    checks: { ineffectiveDynamicImport: false, pluginTimings: false },
    plugins: [keepPlaces(ids)],
  });
  let names;
  const chunkOf = (id, context) => {
    names ??= chunkNames(importsOf(ids, context), programs);
    return names.get(ids.get(id));
  };
  try {
    const { output } = await made.generate({
      dir: join(root, 'build'),
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name].js',
      sourcemap: 'hidden',
      sourcemapExcludeSources: true,
      comments: { annotation: false, jsdoc: false }, // Editors have them from declarations.
      // Classes and functions of the same name are renamed; errors and descriptions of graphs say what they are called.
      keepNames: true,
      codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: chunkOf, debugName: 'chunks' }] },
    });
    return textsOf(output);
  } finally {
    await made.close();
  }
}

/** Code that asks for its place, to find workers and files of the package, gets the place of the file of its path. */
function keepPlaces(ids) {
  return {
    name: 'keep-places',
    transform: {
      filter: { code: OWN_PLACE },
      handler(code, id) {
        if (!ids.has(id)) return null; // the bundler's own
        const place = `new URL('${WAY}${ids.get(id).replace(/\.ts$/, '.js')}', ${OWN_PLACE}).href`;
        return { code: code.replaceAll(OWN_PLACE, place), map: null };
      },
    },
  };
}

/** What each source imports at once and later, and whether others get anything from it. */
function importsOf(ids, context) {
  const known = (targets) => targets.filter((id) => ids.has(id)).map((id) => ids.get(id));
  return new Map(
    [...ids].map(([id, source]) => {
      const { importedIds, dynamicallyImportedIds, exports } = context.getModuleInfo(id);
      const imports = { now: known(importedIds), later: known(dynamicallyImportedIds), exportsAny: exports.length > 0 };
      return [source, imports];
    }),
  );
}

/** Code with its ways and, where it is code and not names alone, a map to the sources. */
function textsOf(output) {
  const texts = new Map();
  for (const { type, fileName, code, map, moduleIds } of output) {
    if (type !== 'chunk') continue;
    const way = posix.relative(posix.dirname(fileName), '.');
    const text = code.replaceAll(WAY, `${way}/`);
    const isCode = map !== null && moduleIds.length > 0;
    texts.set(fileName, isCode ? `${text}//# sourceMappingURL=${posix.basename(fileName)}.map\n` : text);
    if (isCode) texts.set(`${fileName}.map`, JSON.stringify(map));
  }
  return texts;
}
